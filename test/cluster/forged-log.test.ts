import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { MongoClient } from 'mongodb';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { verifyVault } from '#src/cli/audit/run-verify.js';
import type { OperationName } from '#src/cli/operations.js';
import { issueKey, revokeKey } from '#src/commands/tenancy/api-keys.js';
import { createTenant } from '#src/commands/tenancy/create-tenant.js';
import { updateTenant } from '#src/commands/tenancy/update-tenant.js';
import { type Cluster, openCluster } from '#src/compose/cluster/open-cluster.js';
import { tokenPermissions } from '#src/domain/access/permission.js';
import { apiKeyHash, newApiKey } from '#src/domain/tenancy/api-key.js';
import { tenantStream } from '#src/events/tenancy/streams.js';
import { ForgedLog } from '#src/ports/event-log.js';
import { operate } from '../audit/operate.js';
import { type StandIn, startStandIn } from '../support/eventstoredb.js';
import { rule } from '../support/test-service.js';
import { relinkedJournal, type Stored } from './journal-tampering.js';
import { mongoUrl } from './own-database.js';

const redis = process.env['STRONGROOM_TEST_REDIS_URL'] ?? 'redis://127.0.0.1:6479';
const rootKey = randomBytes(32);
let database: string;
let server: StandIn;
let mongo: MongoClient;
let cluster: Cluster;
let tenantId: string;
let publicKey: string;

const open = (options: Partial<Parameters<typeof openCluster>[0]> = {}) =>
  openCluster({
    urls: { eventstore: server.url, mongodb: mongoUrl, keys: mongoUrl, redis },
    database,
    rootKey,
    role: 'api',
    prepares: false,
    cvcRetentionMs: 3_600_000,
    onError: () => undefined,
    ...options,
  });

const operator = () => ({ tenantId, actor: { kind: 'operator' }, traceId: null }) as const;
const rename = (name: string) => updateTenant(cluster.vault, operator(), { name });
const sign = () => cluster.newCheckpointer().run('grown');
const journalFile = () => join(server.directory, 'appends.jsonl');

beforeEach(async () => {
  database = `strongroom_test_${randomBytes(8).toString('hex')}`;
  server = await startStandIn();
  mongo = await MongoClient.connect(mongoUrl);
  cluster = await open({ prepares: true });
  tenantId = (await createTenant(cluster.vault, 'one', [])).tenantId;
  publicKey = (await cluster.vault.keys.signingKey()).publicKey;
});

afterEach(async () => {
  await server.remove();
  for (const name of [database, `${database}_keys`]) await mongo.db(name).dropDatabase();
  await mongo.close();
});

/**
 * Replaces the log in EventStoreDB and the links in MongoDB with the result of `change`. Recomputes everything that can
 * be computed without a key.
 */
async function tamper(change: (appends: Stored[][]) => Stored[][]): Promise<void> {
  await server.kill();
  const appends = readFileSync(journalFile(), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Stored[]);
  const { lines, links } = relinkedJournal(change(appends));
  writeFileSync(journalFile(), lines);
  await server.start();
  const stored = mongo.db(database).collection<{ _id: number; count: number; hash: Buffer }>('event_links');
  await stored.deleteMany({});
  await stored.insertMany(links);
}

async function start(): Promise<string> {
  try {
    await (await open()).close();
    return 'started';
  } catch (error) {
    return error instanceof Error ? error.message : 'failed';
  }
}

async function verified(): Promise<string | null> {
  const opened = await open({ acceptsOlderLog: true });
  try {
    const options = { from: 1, to: null, anchor: null, publicKey, json: false };
    return (await verifyVault((name, input) => operate(opened, name, input), options)).problem?.message ?? null;
  } finally {
    await opened.close();
  }
}

/** JSON that can be parsed, but not written again. */
const nested = `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;

const ofType = (appends: Stored[][], type: string) => appends.findLast((events) => events[0]?.type === type);

function edited(event: Stored, change: (metadata: Record<string, unknown>) => object): Stored {
  const metadata = JSON.parse(Buffer.from(event.metadata, 'base64').toString('utf8'));
  const text = JSON.stringify({ ...metadata, ...change(metadata) }).replace('"NESTED"', nested);
  return { ...event, metadata: Buffer.from(text).toString('base64') };
}

test('an attacker who can write to EventStoreDB and to the links cannot sign a changed history', async () => {
  await rename('two');
  await sign();
  await rename('three');
  await sign();
  await cluster.close();
  await tamper((appends) => {
    const last = ofType(appends, 'audit.checkpoint');
    const changed = ofType(appends, 'tenant.updated');
    const kept = appends.filter((events) => events !== last);
    const forged = kept.map((events) =>
      events === changed
        ? events.map((event) => edited(event, ({ time }) => ({ actor: 'somebody', time: Number(time) - 60_000 })))
        : events,
    );
    // Pads the log with events until it has its previous length again.
    const pad = (last ?? []).map((event) => ({ ...event, type: 'test.happened', stream: 'padding', revision: 0 }));
    return [...forged, pad.map((event) => edited(event, () => ({ first: 0 })))];
  });
  expect(await verified()).toContain('the log does not continue from checkpoint 2');
  expect(await start()).toMatch(/changed the log.*audit verify/);
});

test('an attacker who can write to EventStoreDB and to the links cannot issue an API key', async () => {
  const applicationId = (await cluster.vault.directory.list('application'))[0]?.id ?? '';
  expect((await issueKey(cluster.vault, operator(), applicationId, null)).ok).toBe(true);
  await cluster.close();
  const key = newApiKey('management', (max) => randomBytes(4).readUInt32BE() % max);
  await tamper((appends) => {
    const issued = ofType(appends, 'application.key.issued');
    return appends.map((events) =>
      events === issued
        ? events.map((event) =>
            edited(event, ({ clear }) => ({ clear: { ...(clear as object), key_hash: apiKeyHash(key) } })),
          )
        : events,
    );
  });
  expect(await start()).toMatch(/changed the log/);
  const opened = await open({ acceptsOlderLog: true });
  await expect(opened.projections.rebuild('directory', true)).rejects.toThrow('no valid authentication code');
  expect(await opened.authenticate(key)).toBeNull();
  await opened.close();
});

test('the vault does not start on an older log that was put back right after a key was revoked', async () => {
  const applicationId = (await cluster.vault.directory.list('application'))[0]?.id ?? '';
  const issued = await issueKey(cluster.vault, operator(), applicationId, null);
  if (!issued.ok) throw new Error('the operator may issue a key');
  const older = readFileSync(journalFile());
  expect((await revokeKey(cluster.vault, operator(), applicationId, issued.value.key.id)).ok).toBe(true);
  await cluster.close();
  await server.kill();
  writeFileSync(journalFile(), older);
  await server.start();
  expect(await start()).toMatch(/the log is behind its keys/);
});

test('a deletion or an update of a token whose stream an attacker hides fails, instead of finding no token', async () => {
  const access = { kind: 'rules', rules: [rule('/', 'reveal', tokenPermissions)] } as const;
  const application = { name: 'all', type: 'private', access, expiresAt: null } as const;
  const key = (await createTenant(cluster.vault, 'shop', [application])).keys[0]?.reveal() ?? '';
  const run = (name: OperationName, input: object) => operate(cluster, name, { key, ...input });
  await run('tokens-create', { request: { id: 'hidden', type: 'token', data: 'x' } });
  await server.kill();
  // The stand-in does not truncate streams, so the events get another stream. Their positions stay the same.
  const journal = readFileSync(journalFile(), 'utf8');
  writeFileSync(journalFile(), journal.replaceAll(/"stream":"token-/g, '"stream":"hidden-'));
  await server.start();
  const isNamed = /the event \(revision 0 of token-[^ ]+\) is missing/;
  await expect.poll(() => run('tokens-delete', { id: 'hidden' }).catch(String)).toMatch(isNamed);
  await expect(run('tokens-delete', { id: 'unknown' })).rejects.toThrow('there is no such token');
  expect((await cluster.state()).reasons.join()).toMatch(isNamed);
  await cluster.close();
});

/** Replaces the metadata of the newest event of a type. Recomputes nothing. */
async function replaceMetadata(type: string, change: (metadata: Record<string, unknown>) => object): Promise<Stored> {
  await server.kill();
  const appends = readFileSync(journalFile(), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Stored[]);
  const event = ofType(appends, type)?.[0] ?? expect.unreachable(`no event is of type ${type}`);
  const changed = appends.map((events) => events.map((one) => (one === event ? edited(one, change) : one)));
  writeFileSync(journalFile(), changed.map((events) => `${JSON.stringify(events)}\n`).join(''));
  await server.start();
  return event;
}

const malformedChanges: readonly (readonly [string, (metadata: Record<string, unknown>) => object])[] = [
  ['an unknown format', () => ({ strongroom: 3 })],
  ['a field of another type', () => ({ tenant: {} })],
  ['plaintext fields that are nested too deeply', () => ({ clear: 'NESTED' })],
];

test.each(malformedChanges)('an event with %s is named by readiness, doctor and audit verify', async (_, change) => {
  const worker = await open({ role: 'worker' });
  await rename('two');
  await cluster.vault.chain.follow();
  const { position, stream, revision } = await replaceMetadata('tenant.updated', change);
  await rename('three').catch(() => undefined);
  worker.start();
  const isNamed = new RegExp(
    `the event at position ${position} \\(revision ${revision} of ${stream}\\) (has|is nested)`,
  );
  await expect.poll(async () => (await worker.state()).reasons.join(), { timeout: 20_000 }).toMatch(isNamed);
  const { findings } = await operate(worker, 'diagnose', { fix: false });
  expect(findings.filter(({ check }) => check === 'log').map(({ says }) => says)).toEqual([
    expect.stringMatching(isNamed),
  ]);
  expect(findings.map(({ check }) => check)).not.toContain('unexpected');
  await worker.close();
  expect(await start()).toMatch(isNamed);
  expect(await verified()).toMatch(isNamed);
  await cluster.close();
});

test('an event of another program in the stream of a tenant is named by readiness, doctor and audit verify', async () => {
  const others = EventStoreDBClient.connectionString(server.url);
  onTestFinished(() => others.dispose());
  await others.appendToStream(tenantStream(tenantId), jsonEvent({ type: 'foreign', data: {} }));
  await rename('two').catch((error: unknown) => cluster.reportError(error));
  const isNamed = new RegExp(`of ${tenantStream(tenantId)}\\) was written by another program`);
  expect((await cluster.state()).reasons.join()).toMatch(isNamed);
  const { findings } = await operate(cluster, 'diagnose', { fix: false });
  expect(findings.map(({ says }) => says).join()).toMatch(isNamed);
  await cluster.close();
});

test('a worker that finds a forged log does not log it again and again', async () => {
  const errors: unknown[] = [];
  const worker = await open({ role: 'worker', onError: (error) => void errors.push(error) });
  await rename('two');
  await tamper((appends) => {
    const changed = ofType(appends, 'tenant.updated');
    const forge = (event: Stored) => edited(event, () => ({ actor: 'somebody' }));
    return appends.map((events) => (events === changed ? events.map(forge) : events));
  });
  worker.start();
  const failures = async () => {
    const { text } = await worker.metrics.render(await worker.state());
    return Number(/^strongroom_background_failures_total (\d+)$/m.exec(text)?.[1]);
  };
  await expect.poll(failures, { timeout: 60_000 }).toBeGreaterThan(20);
  await worker.close();
  // The checkpointer, the counts, and the few attempts of the leader and of the sweep's housekeeping.
  const forged = errors.filter((error) => error instanceof ForgedLog);
  expect(forged.length, String(forged[0])).toBeGreaterThan(0);
  expect(forged.length).toBeLessThan(12);
  await cluster.close();
});
