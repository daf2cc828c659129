import { randomBytes } from 'node:crypto';
import { type Document, MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createTenant } from '#src/commands/tenancy/create-tenant.js';
import { tokenPermissions } from '#src/domain/access/permission.js';
import { tokenStream } from '#src/events/tokens/stream-name.js';
import { operate } from '../audit/operate.js';
import { openClusterService } from '../support/cluster-service.js';
import { rule } from '../support/test-service.js';
import { mongoUrl } from './own-database.js';

const anHour = 3_600_000;
let cluster: Awaited<ReturnType<typeof openClusterService>>;
let mongo: MongoClient;
let keys: { readonly all: string; readonly management: string };
let tenantId: string;
const errors: unknown[] = [];

beforeAll(async () => {
  mongo = await MongoClient.connect(mongoUrl);
  const onError = (error: unknown) => void errors.push(error);
  cluster = await openClusterService({ rootKey: randomBytes(32), cvcRetentionMs: anHour, onError });
  const access = { kind: 'rules', rules: [rule('/', 'reveal', tokenPermissions)] } as const;
  const spec = { name: 'all', type: 'private', access, expiresAt: null } as const;
  const tenant = await createTenant(cluster.service.vault, 'default', [spec]);
  tenantId = tenant.tenantId;
  keys = { all: tenant.keys[0]?.reveal() ?? '', management: tenant.managementKey.reveal() };
});

afterAll(async () => {
  await cluster.service.close();
  await cluster.remove();
  await mongo.close();
});

const ask = (id: string) => operate(cluster.service, 'audit-erasure', { key: keys.management, id });

/**
 * Creates a token that expires in one hour, and deletes it immediately. Returns the token's stream and the time at
 * which the token would have expired.
 */
async function deleted(id: string): Promise<{ readonly stream: string; readonly dueAt: number }> {
  const { vault } = cluster.service;
  const dueAt = Math.floor(vault.clock.now() / 1_000) * 1_000 + anHour;
  const token = { id, type: 'token', data: 'x', expires_at: new Date(dueAt).toISOString() };
  await operate(cluster.service, 'tokens-create', { key: keys.all, request: token });
  await operate(cluster.service, 'tokens-delete', { key: keys.all, id });
  const subkeys = await vault.keys.tenantKeys(tenantId);
  if (subkeys === null) throw new Error('the tenant has keys');
  return { stream: tokenStream(subkeys.names, id), dueAt };
}

test.each<[string, string, Document, RegExp]>([
  ['a row', 'token_rows_1', { content: Buffer.of(0) }, /rows in token_rows_1: 1/],
  ['search terms', 'token_rows_1', { terms: [randomBytes(16)] }, /search terms in token_rows_1: 1/],
  ['a fingerprint', 'token_rows_1', { fingerprint: randomBytes(32) }, /fingerprints in token_rows_1: 1/],
  ['a deadline', 'token_rows_1', { expires_at: 5 }, /deadlines in token_rows_1: 1/],
  ['a row of another generation', 'token_rows_99', { life: {} }, /rows in token_rows_99: 1/],
])(
  'if %s is left over in MongoDB, the problem names it, and no statement is signed',
  async (what, collection, left, text) => {
    const id = what.replaceAll(' ', '-');
    const { stream } = await deleted(id);
    expect((await ask(id)).problem).toBeNull();
    const rows = mongo.db(cluster.database).collection<Document & { _id: string }>(collection);
    await rows.updateOne({ _id: stream }, { $set: left }, { upsert: true });
    const { statement, problem } = await ask(id);
    expect(statement).toBeNull();
    expect(problem).toMatch(text);
    await rows.deleteOne({ _id: stream });
  },
);

test('a leftover claim on the token’s fingerprint is named', async () => {
  const { stream } = await deleted('claimed');
  const claims = mongo.db(cluster.database).collection<Document & { _id: string }>('fingerprint_claims');
  await claims.insertOne({ _id: 'a claim', intent: { stream, expectedRevision: -1 } });
  expect((await ask('claimed')).problem).toContain('fingerprints in fingerprint_claims: 1');
});

test('a claim that a crash left behind is removed before the row records that the token ended', async () => {
  const { stream } = await deleted('cut off');
  const db = mongo.db(cluster.database);
  const claims = db.collection<Document & { _id: string }>('fingerprint_claims');
  await claims.insertOne({ _id: 'left by a crash', intent: { stream, expectedRevision: -1 } });
  const rows = db.collection<Document & { _id: string; revision: number }>('token_rows_1');
  await rows.updateOne({ _id: stream }, { $set: { revision: 0 } });
  await cluster.service.vault.work.follow([{ stream, tenantId, revision: 1 }]);
  expect(await claims.countDocuments({ 'intent.stream': stream })).toBe(0);
  expect((await rows.findOne({ _id: stream }))?.revision).toBe(1);
  expect((await ask('cut off')).problem).toBeNull();
});

test('a deleted token’s timer is removed, and a leftover timer is named', async () => {
  const { timers } = cluster.service.vault;
  const { stream, dueAt } = await deleted('timed');
  const row = { stream, tenantId, due: 'expiry', dueAt } as const;
  const pending = (count: number) =>
    vi.waitFor(async () => expect(await timers.pending([row])).toBe(count), { timeout: 30_000 });
  await pending(0);
  expect((await ask('timed')).problem).toBeNull();
  timers.set(row);
  await pending(1);
  expect((await ask('timed')).problem).toMatch(/timers in timers: 1\. Timers are removed when they are due/);
  timers.clear(row);
  await pending(0);
  expect(errors).toEqual([]);
});
