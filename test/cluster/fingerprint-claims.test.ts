import { randomBytes, randomUUID } from 'node:crypto';
import { type Document, MongoClient } from 'mongodb';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { createTenant } from '#src/commands/tenancy/create-tenant.js';
import { createTokens } from '#src/commands/tokens/create-tokens.js';
import { tokenPermissions } from '#src/domain/access/permission.js';
import type { EventLog } from '#src/ports/event-log.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { operate } from '../audit/operate.js';
import { openClusterService } from '../support/cluster-service.js';
import { rule } from '../support/test-service.js';
import { mongoUrl } from './own-database.js';

type Claim = Document & { readonly _id: string };
type Process = Awaited<ReturnType<Awaited<ReturnType<typeof openClusterService>>['another']>>;

const minuteMs = 60_000;
let cluster: Awaited<ReturnType<typeof openClusterService>>;
let other: Process;
let mongo: MongoClient;
let tenantId: string;
let keys: { readonly all: string; readonly management: string };
const errors: unknown[] = [];
const claims = () => mongo.db(cluster.database).collection<Claim>('fingerprint_claims');

beforeAll(async () => {
  mongo = await MongoClient.connect(mongoUrl);
  const onError = (error: unknown) => void errors.push(error);
  cluster = await openClusterService({ rootKey: randomBytes(32), cvcRetentionMs: 60 * minuteMs, onError });
  other = await cluster.another();
  const access = { kind: 'rules', rules: [rule('/', 'reveal', tokenPermissions)] } as const;
  const spec = { name: 'all', type: 'private', access, expiresAt: null } as const;
  const tenant = await createTenant(cluster.service.vault, 'default', [spec]);
  tenantId = tenant.tenantId;
  keys = { all: tenant.keys[0]?.reveal() ?? '', management: tenant.managementKey.reveal() };
});

beforeEach(async () => {
  await claims().deleteMany({});
});

afterAll(async () => {
  await other.close();
  await cluster.service.close();
  await cluster.remove();
  await mongo.close();
  expect(errors).toEqual([]);
});

const create = (fields: object, process: Process = cluster.service) => {
  const request = { type: 'token', deduplicate_token: true, ...fields };
  return operate(process, 'tokens-create', { key: keys.all, request });
};
const problem = async (id: string) =>
  (await operate(cluster.service, 'audit-erasure', { key: keys.management, id })).problem;

/** Makes all claims older. */
const age = (ms: number) => claims().updateMany({}, [{ $set: { openedAt: { $subtract: ['$openedAt', ms] } } }]);

/** Does the cleanup of the leader. */
async function cleanup(): Promise<void> {
  for (const work of cluster.service.cleanup) await work();
}

/** Replaces a function of the first process's log until `undo` is called, or until the end of the test. */
function hook<Name extends 'append' | 'readClearFrom' | 'readNewest'>(
  name: Name,
  replace: (real: EventLog[Name]) => EventLog[Name],
): { undo(): void } {
  const log = cluster.service.vault.log as { -readonly [Key in Name]: EventLog[Key] };
  const real = log[name];
  log[name] = replace(real);
  const undo = () => {
    log[name] = real;
  };
  onTestFinished(undo);
  return { undo };
}

/** Creates tokens while the log rejects new tokens. */
async function failToCreate(...tokens: object[]): Promise<void> {
  const down = hook('append', (real) => async (stream, ...rest) => {
    if (stream.startsWith('token-')) throw new StoreUnavailable('event log', 'simulated');
    return real(stream, ...rest);
  });
  for (const token of tokens) await expect(create(token)).rejects.toThrow();
  down.undo();
}

async function createdEvents(): Promise<number> {
  const events = await cluster.service.vault.log.readAll(0, 1_000_000);
  return events.filter(({ type }) => type === 'token.created').length;
}

test('the claim of a failed creation is removed after ten minutes, and no longer prevents a statement of erasure', async () => {
  const id = randomUUID();
  await create({ data: 'person', id });
  await operate(cluster.service, 'tokens-delete', { key: keys.all, id });
  expect(await problem(id)).toBeNull();
  await failToCreate({ data: 'person', id });
  await age(9 * minuteMs);
  await cleanup();
  expect(await problem(id)).toContain('fingerprints in fingerprint_claims: 1');
  await age(minuteMs);
  await cleanup();
  expect(await claims().countDocuments()).toBe(0);
  expect(await problem(id)).toBeNull();
});

test('a claim without a time, from an older version, is removed', async () => {
  await failToCreate({ data: randomUUID() });
  expect((await claims().updateMany({}, { $unset: { openedAt: 1 } })).modifiedCount).toBe(1);
  await cleanup();
  expect(await claims().countDocuments()).toBe(0);
});

/** Holds the events of each new token back until `thaw` is called. */
function freezeCreations() {
  let thaw: () => void = () => undefined;
  const thawed = new Promise<void>((resolve) => {
    thaw = resolve;
  });
  onTestFinished(thaw);
  const frozen = hook('append', (real) => async (stream, revision, events) => {
    if (events.some(({ type }) => type === 'token.created')) await thawed;
    return real(stream, revision, events);
  });
  return { frozen, thaw };
}

test('a creation whose append arrives after its claim was removed does not create a second token', async () => {
  const data = randomUUID();
  const before = await createdEvents();
  const { thaw } = freezeCreations();
  const late = create({ data });
  await expect.poll(() => claims().countDocuments()).toBe(1);
  await age(10 * minuteMs);
  await cleanup();
  expect(await claims().countDocuments()).toBe(0);
  const made = await create({ data }, other);
  thaw();
  expect(await late).toMatchObject({ id: made.id });
  expect(await createdEvents()).toBe(before + 1);
});

/** Returns the values in the order in which a process claims their fingerprints. */
async function inOrderOfClaims(values: readonly string[]): Promise<readonly string[]> {
  const ids = new Map<string, string>();
  for (const data of values) {
    await failToCreate({ data });
    const [claim] = await claims().find().toArray();
    ids.set(String(claim?._id), data);
    await claims().deleteMany({});
  }
  return [...ids].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, data]) => data);
}

/** Creates several tokens in one request to the first process. */
function tokenize(values: readonly string[]) {
  const { vault } = cluster.service;
  const access = { kind: 'rules', rules: [rule('/', 'reveal', tokenPermissions)] } as const;
  const tenantSettings = {
    deduplicate_tokens: 'true',
    keep_superseded_data: 'false',
    show_fingerprints: 'false',
  } as const;
  const caller = { tenantId, applicationId: 'app', keyId: 'key', applicationType: 'private', tenantSettings, access };
  const context = { caller, traceId: 'trace', beganAt: performance.now(), idempotency: null } as const;
  const parts = values.map((data) => ({ request: { type: 'token', data }, path: '', isValue: false }));
  return createTokens(vault, context as never, parts as never);
}

test('a request that waits for one of its values does not make other processes wait for its other values', async () => {
  // The process would claim the value that it has to wait for after the others.
  const [data = '', ...others] = (await inOrderOfClaims(Array.from({ length: 5 }, () => randomUUID()))).toReversed();
  others.reverse();
  const before = await createdEvents();
  const { thaw } = freezeCreations();
  const first = create({ data });
  await expect.poll(() => claims().countDocuments()).toBe(1);
  const waiting = new Promise<void>((resolve) => {
    let left = others.length + 1;
    // Before it claims anything, the request reads the stream of each new token.
    hook('readNewest', (real) => async (...given) => {
      left -= 1;
      if (left === 0) resolve();
      return real(...given);
    });
  });
  const batch = tokenize([...others, data]);
  await waiting;
  const made = [];
  for (const value of others) made.push(await create({ data: value }, other));
  thaw();
  made.push(await first);
  expect(await batch).toMatchObject({ ok: true, value: made.map(({ id }) => ({ id })) });
  expect(await createdEvents()).toBe(before + 5);
  // No process considered the request dead.
  expect(await mongo.db(cluster.database).collection('batches').countDocuments({ state: 'undone' })).toBe(0);
});

test('the claim of a token that was planted for a value neither replaces nor prevents the creation of the value', async () => {
  const data = randomUUID();
  const before = await createdEvents();
  const { frozen, thaw } = freezeCreations();
  const late = create({ data: 'planted', fingerprint_expression: data });
  await expect.poll(() => claims().countDocuments()).toBe(1);
  const made = await create({ data }, other);
  expect(made).toMatchObject({ data });
  frozen.undo();
  thaw();
  // A literal expression agrees with every value, so the request that planted the token finds the value's token.
  expect(await late).toMatchObject({ id: made.id });
  const planted = await create({ data: 'planted', fingerprint_expression: data, deduplicate_token: false });
  const ids = await Promise.all([create({ data }), create({ data }, other)]);
  expect(ids.map(({ id }) => id)).toEqual([made.id, made.id]);
  expect(planted.id).not.toBe(made.id);
  expect(await createdEvents()).toBe(before + 2);
});

test('a claim is also removed if its token was created, without another event, and the token is still found', async () => {
  const data = randomUUID();
  const { id } = await create({ data });
  await age(10 * minuteMs);
  const head = await cluster.service.vault.log.head();
  await cleanup();
  expect(await claims().countDocuments()).toBe(0);
  expect(await cluster.service.vault.log.head()).toBe(head);
  expect(await create({ data }, other)).toMatchObject({ id });
});

test('a claim that another process takes over meanwhile is not removed', async () => {
  await failToCreate({ data: randomUUID() });
  await age(10 * minuteMs);
  const taken = { attempt: 'of the new owner', 'intent.stream': 'the stream of the new owner' };
  hook('readClearFrom', (real) => async (...given) => {
    await claims().updateMany({}, { $set: taken });
    return real(...given);
  });
  await cleanup();
  expect(await claims().find().toArray()).toMatchObject([{ attempt: taken.attempt }]);
});

test('a claim that cannot be settled is kept, and does not prevent the removal of other claims', async () => {
  const tokens = Array.from({ length: 3 }, () => ({ data: randomUUID() }));
  await failToCreate(...tokens);
  await age(10 * minuteMs);
  const [first] = await claims().find().toArray();
  hook('readClearFrom', (real) => async (stream, ...rest) => {
    if (stream === first?.['intent'].stream) throw new Error('this stream cannot be read');
    return real(stream, ...rest);
  });
  await expect(cleanup()).rejects.toThrow('this stream cannot be read');
  expect(await claims().find().toArray()).toMatchObject([{ _id: first?._id, attempt: first?.['attempt'] }]);
});

test('a claim that was not recorded by the vault is removed, and nothing is appended', async () => {
  const intent = { stream: `token-${'0'.repeat(64)}`, tenantId: 't', expectedRevision: -1, eventIds: [] };
  await claims().insertMany([
    { _id: 'planted', attempt: 'a', batch: null, intent, mac: Buffer.alloc(32) },
    { _id: 'without fields' },
  ]);
  const head = await cluster.service.vault.log.head();
  await cleanup();
  expect(await claims().countDocuments()).toBe(0);
  expect(await cluster.service.vault.log.head()).toBe(head);
});
