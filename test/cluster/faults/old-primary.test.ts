import { setTimeout as wait } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { expect, onTestFinished, test } from 'vitest';
import { connectMongo } from '#src/adapters/mongodb/connection.js';
import type { JsonObject } from '#src/domain/json.js';
import { type HttpAnswer, http, until } from '../../support/process.js';
import { database, type OwnCluster, ownCluster } from './own-cluster.js';
import { ownServers } from './own-servers.js';

const secret = 'a value that was erased';
const askedMs = 6_000;

/**
 * The test freezes the primary, and lets the other nodes elect a new one. It deletes a token on the new primary, and
 * then wakes the old primary. For a few seconds, the old primary serves reads as if nothing had happened. An API
 * process that reaches only the old primary must not forward any of these stale responses.
 */
test('a deposed primary that wakes up is not trusted', { timeout: 600_000 }, async () => {
  const servers = await ownServers(3);
  const cluster = await ownCluster(servers);
  const { key } = cluster;
  const primary = await servers.primary();
  const old = servers.mongo[primary];
  const urlOf = (node: number) => `mongodb://${servers.mongoHosts[node]}/?directConnection=true`;
  const alone = urlOf(primary);
  const refusal = /directConnection=true and names a server that is not the primary\. Remove directConnection/;
  await expect(connectMongo(urlOf((primary + 1) % 3), database)).rejects.toThrow(refusal);
  const [api, island] = await Promise.all([
    cluster.start('api'),
    cluster.start('api', { env: { STRONGROOM_MONGODB_URL: alone } }),
  ]);
  const once = { 'service-idempotency-key': 'made once' };
  const body = { id: 'doomed', type: 'token', data: secret, metadata: { of: 'doomed' }, mask: '{{ data }}' };
  const create = (base: string) => http('POST', `${base}/tokens`, { key, body, headers: once });
  expect(await create(api.address)).toMatchObject({ status: 201 });
  for (const [what, ask] of questions(cluster, island.address, create)) {
    const answer = await ask();
    expect(answer.status, `${what} before: ${answer.text}`).toBeOneOf([200, 201, 304]);
  }
  const direct = new MongoClient(alone);
  onTestFinished(() => direct.close());
  await direct.connect();
  const rows = direct.db(database).collection('token_rows_1');
  expect(await rows.countDocuments({ removed_at: null }), 'rows as this test looks for them').toBe(1);

  old?.signal('SIGSTOP');
  await until('a delete on another primary', 60_000, async () => {
    const deleted = await http('DELETE', `${api.address}/tokens/doomed`, { key });
    if (deleted.status !== 503) expect(deleted).toMatchObject({ status: 204 });
    return deleted.status === 204 ? true : undefined;
  });
  const later = { id: 'later', type: 'token', data: 'made on the new primary' };
  expect(await http('POST', `${api.address}/tokens`, { key, body: later })).toMatchObject({ status: 201 });

  const endsAt = performance.now() + askedMs;
  let stale = 0;
  const lookDirectly = async () => {
    while (performance.now() < endsAt) {
      stale += await rows.countDocuments({ removed_at: null }, { readConcern: 'majority', maxTimeMS: 500 }).then(
        (count) => Number(count === 1),
        () => 0,
      );
      await wait(5);
    }
  };
  const answers: { readonly what: string; readonly answer: HttpAnswer }[] = [];
  const asking = [...questions(cluster, island.address, create), laterQuestion(cluster, island.address)].map(
    async ([what, ask]) => {
      while (performance.now() < endsAt) {
        answers.push({ what, answer: await ask() });
        await wait(5);
      }
    },
  );
  await wait(100);
  old?.signal('SIGCONT');
  await Promise.all([...asking, lookDirectly()]);

  console.log(
    `${stale} stale reads of the old primary itself; of ${answers.length} answers by way of it:`,
    tally(answers),
  );
  expect(stale, 'stale reads that the old primary answered itself').toBeGreaterThan(0);
  const wrong = answers.filter(({ what, answer }) => !isRight(what, answer));
  expect(wrong.map(({ what, answer: { status, text } }) => `${what}: ${status} ${text}`)).toEqual([]);
  // A process that can reach all nodes reads from the new primary, where the token `doomed` is deleted.
  expect(await http('GET', `${api.address}/tokens/doomed`, { key })).toMatchObject({ status: 404 });
  expect(await http('GET', `${api.address}/tokens/later`, { key })).toMatchObject({ status: 200 });
});

type Question = readonly [what: string, ask: () => Promise<HttpAnswer>];

/** Returns one request of each kind that can return a token's data or reveal that the token exists. */
function questions(
  { key, maskedKey, managementKey }: OwnCluster,
  base: string,
  create: (base: string) => Promise<HttpAnswer>,
): readonly Question[] {
  const search = { query: 'metadata.of:doomed' };
  const template = { it: '{{ doomed }}' };
  const unchanged = { 'if-none-match': '"0"' };
  return [
    ['get', () => http('GET', `${base}/tokens/doomed`, { key })],
    ['get, masked', () => http('GET', `${base}/tokens/doomed`, { key: maskedKey })],
    ['get, unchanged', () => http('GET', `${base}/tokens/doomed`, { key, headers: unchanged })],
    ['list', () => http('GET', `${base}/tokens`, { key })],
    ['list, masked', () => http('GET', `${base}/tokens?id=doomed`, { key: maskedKey })],
    ['search', () => http('POST', `${base}/tokens/search`, { key, body: search })],
    ['search, masked', () => http('POST', `${base}/tokens/search`, { key: maskedKey, body: search })],
    ['detokenize', () => http('POST', `${base}/detokenize`, { key, body: template })],
    ['detokenize, masked', () => http('POST', `${base}/detokenize`, { key: maskedKey, body: template })],
    ['idempotent repeat', () => create(base)],
    ['usage report', () => http('GET', `${base}/tenants/self/reports/usage`, { key: managementKey })],
    ['access log', () => http('GET', `${base}/logs`, { key: managementKey })],
  ];
}

/**
 * Returns true if the response is a 503 or matches the state of the new primary. A response other than 503 can be
 * correct, because the cluster may have elected the old primary again.
 */
function isRight(what: string, { status, text, headers, body }: HttpAnswer): boolean {
  if (status === 503) return Number(headers['retry-after']) > 0;
  if (text.includes(secret) || text.includes('"doomed"')) return false;
  if (what === 'get of a later one') return status === 200;
  if (what.startsWith('get') || what === 'idempotent repeat') return status === 404;
  if (what.startsWith('detokenize')) return status === 400;
  if (what === 'list') return (body['pagination'] as JsonObject)['total_items'] === 1;
  return status === 200;
}

/** Returns a request whose response shows whether the process sees a token that was created on the new primary. */
function laterQuestion({ key }: OwnCluster, base: string): Question {
  return ['get of a later one', () => http('GET', `${base}/tokens/later`, { key })];
}

function tally(answers: readonly { readonly what: string; readonly answer: HttpAnswer }[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { what, answer } of answers) {
    const name = `${what}: ${answer.status}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
