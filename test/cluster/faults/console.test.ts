import { expect, test } from 'vitest';
import type { JsonObject } from '#src/domain/json.js';
import { http, until } from '../../support/process.js';
import { consoleEnv, consoleOf, signInAt } from '../console/support.js';
import { ownCluster } from './own-cluster.js';
import { ownServers } from './own-servers.js';

const secret = 'plaintext-of-doomed';
const paths = [
  '/',
  '/tokens',
  '/tokens/doomed',
  '/tokens/doomed/history',
  '/tokens/doomed/file',
  '/applications',
  '/logs',
  '/evidence',
  '/webhooks',
  '/tenant',
  '/session',
  '/sign-in',
];

/**
 * The test kills two of three MongoDB nodes, so that no node is the primary. While one is missing, the console must show
 * neither data nor details of the error, and must not reveal anything that the access log does not contain.
 */
test('without a primary, every page says that a store is unavailable, and each reveal is recorded', {
  timeout: 300_000,
}, async () => {
  const servers = await ownServers(3);
  const cluster = await ownCluster(servers);
  const [api, other] = await Promise.all(['api', 'api'].map(() => cluster.start('api', { env: consoleEnv })));
  if (api === undefined || other === undefined) throw new Error('two processes are started');
  const body = { id: 'doomed', type: 'token', data: secret, mask: '{{ data | slice: 0 }}' };
  expect((await http('POST', `${api.address}/tokens`, { key: cluster.key, body })).status).toBe(201);
  const keys = { private_key: cluster.key, management_key: cluster.managementKey };
  const browser = await signInAt(consoleOf(api), keys);
  const copy = browser.copy(consoleOf(other));
  await browser.get('/tokens/doomed');
  await copy.get('/tokens/doomed');

  // Reveals while the primary disappears.
  const primary = await servers.primary();
  let shown = 0;
  const reveal = async (from: typeof browser) => {
    const { status, text } = await from.post('/tokens/doomed/reveal', { reason: 'while the primary disappears' });
    expect([200, 503]).toContain(status);
    expect(text.includes(secret)).toBe(status === 200);
    shown += Number(status === 200);
    return status;
  };
  const revealing = [browser, copy].map(async (from) => {
    while ((await reveal(from)) === 200);
  });
  await until('some reveals', 30_000, () => (shown >= 4 ? true : undefined));
  await Promise.all(servers.mongo.filter((_, index) => index !== primary).map((node) => node.kill()));
  await Promise.all(revealing);

  const answers = await Promise.all(
    paths.flatMap((path) => [browser, copy].map(async (from) => ({ path, ...(await from.copy().get(path)) }))),
  );
  answers.push({ path: 'sign-out', ...(await browser.post('/sign-out')) });
  for (const { path, status, text, headers } of answers) {
    expect([path, status, text.includes('A store is unavailable')]).toEqual([path, 503, true]);
    expect(Number(headers['retry-after']), path).toBeGreaterThan(0);
    expect(text.includes(secret), path).toBe(false);
    expect(text, path).not.toMatch(/node:internal|\.js:\d|Mongo|127\.0\.0\.1/);
  }

  for (const [index, node] of servers.mongo.entries()) if (index !== primary) node.start();
  const recorded = await until('the access log', 60_000, async () => {
    const answer = await http('GET', `${api.address}/logs?operation=reveal&size=1`, { key: cluster.managementKey });
    return answer.status === 200 ? Number((answer.body['pagination'] as JsonObject)['total_items']) : undefined;
  });
  console.log(`${shown} values shown, ${recorded} reveals recorded`);
  expect(shown).toBeGreaterThanOrEqual(4);
  expect(recorded).toBeGreaterThanOrEqual(shown);
});
