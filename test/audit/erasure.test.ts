import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { packStream } from '#src/adapters/sqlite/database/packed-text.js';
import { blockOf, changeOf, entryOf } from '#src/adapters/sqlite/search-index/entries.js';
import { type ErasureStatement, erasureStatement, isSignedErasure } from '#src/audit/erasure-statement.js';
import { formatTimestamp } from '#src/domain/time.js';
import { tokenStream } from '#src/events/tokens/stream-name.js';
import { rotateKeys } from '#src/jobs/rotate-keys.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { erasureFacts } from '#src/queries/erasure-facts.js';
import { tenantKeysOf } from '#src/vault/tenant-keys.js';
import { keyIdBytes, keyIdsOf, streamOf, tamper } from '../erasure/support.js';
import { openVault } from '../rebuild/support.js';
import { embeddedOnly } from '../support/profile.js';
import { rule, startTestService, type TestService } from '../support/test-service.js';
import { updatedOften } from '../vault/updated-often.js';
import { operate } from './operate.js';

let service: TestService;

beforeEach(async () => {
  service = await startTestService();
});

afterEach(() => service.close());

const ask = (id: string, key = service.managementKey) => operate(service.service, 'audit-erasure', { key, id });

async function stated(id: string): Promise<ErasureStatement> {
  const { statement, problem } = await ask(id);
  if (statement === null) throw new Error(problem ?? 'nothing was stated');
  return statement;
}

const create = (id: string) => service.call('POST', '/tokens', { type: 'token', id, data: `data of ${id}` });
const remove = async (id: string) => expect((await service.call('DELETE', `/tokens/${id}`)).status).toBe(204);

test('a statement about a deleted token lists its lives and keys, and is signed', async () => {
  const data = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030, cvc: '123' };
  await service.call('POST', '/tokens', { type: 'card', id: 'card', data });
  await service.call('PATCH', '/tokens/card', { data: { expiration_year: 2031 } });
  await remove('card');
  service.clock.advance(3_000);
  await create('card');
  await remove('card');
  await service.service.checkpointer.run();
  const statement = await stated('card');
  expect(statement).toMatchObject({ token_id: 'card', tenant_id: service.tenantId });
  expect(statement.lives.map(({ ended_by }) => ended_by)).toEqual(['token.deleted', 'token.deleted']);
  // The token had two lives. During these lives, it had three versions of its data and one verification code. Each of
  // these four had a separate key.
  expect(statement.keys.destroyed).toBe(4);
  expect(statement.derived.row).toBe('tombstone');
  const kinds = new Set(statement.derived.looked.map(({ kind }) => kind));
  expect([...kinds].sort()).toEqual(['deadline', 'fingerprint', 'found_by_id', 'row', 'search_term', 'timer']);
  expect(statement.checkpoint).toMatchObject({ number: 1 });
  expect(JSON.stringify(statement)).not.toContain('42424242');
  const { publicKey } = await service.vault.keys.signingKey();
  expect(isSignedErasure(erasureStatement.parse(JSON.parse(JSON.stringify(statement))), publicKey)).toBe(true);
  expect(isSignedErasure({ ...statement, token_id: 'other' }, publicKey)).toBe(false);
  const other = generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' }).toString();
  expect(isSignedErasure(statement, other)).toBe(false);
});

test('a statement says which copies of the keys can still decrypt data, based on when the last rotation began', async () => {
  const { rotation } = service.vault.keys;
  const rotate = async () => {
    service.clock.advance(3_000);
    expect(await rotateKeys(rotation, randomBytes(32))).toBe(true);
    service.clock.advance(3_000);
  };
  await create('one');
  await rotate();
  await remove('one');
  const { last_destroyed_at: destroyedAt } = (await stated('one')).keys;
  expect((await stated('one')).copies).toBe(
    `Copies of the key store from before ${destroyedAt} open it until the keys are rotated after that time (\`strongroom keys rotate --all\`).`,
  );
  await rotate();
  const { copies } = await stated('one');
  const began = formatTimestamp((await rotation.voidBefore()) ?? 0);
  expect(copies).toBe(
    `Copies of the key store from before ${destroyedAt} are useless without the root key from that time: a rotation that began ${began} replaced all keys.`,
  );
});

test('a rotation that began at most two seconds after the erasure does not count, because clocks may differ', async () => {
  const { rotation } = service.vault.keys;
  await create('one');
  await remove('one');
  service.clock.advance(2_000);
  await rotateKeys(rotation, randomBytes(32));
  expect((await stated('one')).copies).toContain(' open it until the keys are rotated ');
  service.clock.advance(1);
  await rotateKeys(rotation, randomBytes(32));
  expect((await stated('one')).copies).toContain(' are useless without the root key from that time: ');
});

test('a statement does not call copies made during a rotation useless until the next rotation', async () => {
  const { rotation } = service.vault.keys;
  await create('one');
  service.clock.advance(3_000);
  const from = await rotation.rootCheck();
  await rotation.begin(await rotation.rootCheck());
  for (let step = await rotation.rewrap(0); step !== null; ) step = await rotation.rewrap(step.sequence);
  service.clock.advance(3_000);
  await remove('one');
  service.clock.advance(3_000);
  expect(await rotation.replaceRoot(randomBytes(32), from)).toBe(true);
  service.clock.advance(3_000);
  expect((await stated('one')).copies).toContain(' open it until the keys are rotated ');
  expect(await rotateKeys(rotation, randomBytes(32))).toBe(true);
  expect((await stated('one')).copies).toContain(' are useless without the root key from that time: ');
});

test('a timer that is left over is counted once, even if several updates kept its due time', async () => {
  const { vault, tenantId, clock } = service;
  const expiresAt = formatTimestamp(clock.now() + 60_000);
  await service.call('POST', '/tokens', { type: 'token', id: 'one', data: 'a', expires_at: expiresAt });
  for (const data of ['b', 'c']) await service.call('PATCH', '/tokens/one', { data });
  await remove('one');
  const timers = { ...vault.timers, pending: async (rows: readonly unknown[]) => rows.length };
  const found = await erasureFacts({ ...vault, timers }, tenantId, 'one');
  expect(found).toMatchObject({
    kind: 'incomplete',
    left: [{ kind: 'timer', store: 'timers', looked: 1, found: 1 }],
  });
});

test('a token can be stated to be erased even after more than a hundred thousand updates', async () => {
  const { vault, tenantId } = service;
  const stream = tokenStream((await tenantKeysOf(vault, tenantId)).names, 'often');
  const often = updatedOften({ tenantId, stream, updates: 130_000, isDeleted: true });
  const log = { ...vault.log, ...often.log };
  const keys = {
    ...vault.keys,
    keyStatuses: async (ids: readonly string[]) => ids.map((keyId, index) => ({ keyId, destroyedAt: index })),
  };
  const found = await erasureFacts({ ...vault, log, keys }, tenantId, 'often');
  expect(found).toMatchObject({ kind: 'erased', keys: 130_001, lastDestroyedAt: 130_000 });
});

test('no statement is issued about a live token, or about one that never existed', async () => {
  await create('one');
  await expect(ask('one')).rejects.toThrow('the token still exists');
  await expect(ask('none')).rejects.toThrow('no such token');
});

test('no statement is issued while a key of the deleted token still exists', async () => {
  await create('one');
  const { keys } = service.vault;
  const { destroy } = keys;
  Object.assign(keys, { destroy: () => Promise.reject(new StoreUnavailable('keys', 'held')) });
  expect((await service.call('DELETE', '/tokens/one')).status).toBe(503);
  Object.assign(keys, { destroy });
  const { statement, problem } = await ask('one');
  expect(statement).toBeNull();
  expect(problem).toContain('1 of its keys is not destroyed');
  await remove('one');
  expect((await stated('one')).keys.destroyed).toBe(1);
});

test('no statement is issued if a key of the deleted token is missing in the key store', async (context) => {
  embeddedOnly(context, 'the key is removed from the file');
  await create('one');
  const { content } = await keyIdsOf(service, 'one');
  await remove('one');
  expect(tamper(service.dataDir, 'keys.db', 'DELETE FROM data_keys WHERE id = ?', keyIdBytes(String(content[0])))).toBe(
    1,
  );
  const { statement, problem } = await ask('one');
  expect(statement).toBeNull();
  expect(problem).toContain('1 of its keys has no row in the key store');
});

test('only a caller that may read a deleted token’s history gets a statement', async () => {
  await create('one');
  await remove('one');
  const narrow = await service.application([rule('/open/', 'reveal', ['token:read'])]);
  await expect(ask('one', narrow)).rejects.toThrow('no such token');
  await expect(ask('one', await service.otherTenant())).rejects.toThrow('no such token');
  expect((await ask('one', service.key)).problem).toBeNull();
});

test.for<[string, RegExp, string]>([
  ['a row', /rows in token_rows_1: 1/, 'UPDATE token_rows_1 SET content_at = 1 WHERE stream = @stream'],
  ['a state', /rows in token_rows_1: 1/, `UPDATE token_rows_1 SET life = '[0,0,"a","k"]' WHERE stream = @stream`],
  [
    'search terms of the row',
    /search terms in token_rows_1: 1/,
    `UPDATE token_rows_1 SET terms = zeroblob(16) WHERE stream = @stream`,
  ],
  [
    'a posting in a change',
    /search terms in index_changes_1: 1/,
    `INSERT INTO index_changes_1 SELECT 1 + max(merged, ifnull((SELECT max(number) FROM index_changes_1), 0)), @created,
       change_of(@created), NULL FROM index_state_1`,
  ],
  [
    'a posting in a run',
    /search terms in index_blocks_1: 1/,
    'INSERT INTO index_blocks_1 VALUES (100000000, block_of(@created))',
  ],
  [
    'a fingerprint',
    /fingerprints in token_rows_1: 1/,
    `UPDATE token_rows_1 SET fingerprint = 'f' WHERE stream = @stream`,
  ],
  ['a deadline', /deadlines in token_rows_1: 1/, 'UPDATE token_rows_1 SET expires_at = 5 WHERE stream = @stream'],
  [
    'a deadline of the code',
    /deadlines in token_rows_1: 1/,
    'UPDATE token_rows_1 SET cvc_purge_at = 5 WHERE stream = @stream',
  ],
  [
    'a row of the generation that is not in use',
    /rows in token_rows_0: 1/,
    `INSERT INTO token_rows_0 (stream, tenant, revision, type, life, mac)
     VALUES (@stream, '', 0, 'token', '[0,0,"a","k"]', zeroblob(32))`,
  ],
  [
    'a posting of the generation that is not in use',
    /search terms in index_changes_0: 1/,
    `INSERT INTO index_changes_0 SELECT 1 + max(merged, ifnull((SELECT max(number) FROM index_changes_0), 0)), @created,
       change_of(@created), NULL FROM index_state_0`,
  ],
])('if %s is left over, the problem names it, and no statement is signed', async ([, text, sql], context) => {
  embeddedOnly(context, 'it is put into the file; what MongoDB keeps is looked for in cluster/erasure.test.ts');
  const { dataDir } = service;
  const database = openVault(dataDir);
  try {
    database.function('change_of', (created) => changeOf(randomBytes(16), Number(created)));
    database.function('block_of', (created) => blockOf(entryOf(randomBytes(16), Number(created))));
    const others = database.prepare('INSERT INTO index_blocks_1 VALUES (?, ?)');
    // Adds more blocks than a single read returns, so the search for leftovers needs several reads.
    database.transaction(() => {
      for (let block = 0; block < 250; block += 1) {
        others.run(50_000_000 + block, blockOf(entryOf(randomBytes(16), 1_000_000)));
      }
    })();
    await create('one');
    await remove('one');
    expect((await ask('one')).problem).toBeNull();
    const stream = packStream(await streamOf(service, 'one'));
    const created = database.prepare(`SELECT position FROM events WHERE stream = ? AND type = 'token.created'`).pluck();
    database.prepare(sql).run({ stream, created: created.get(stream) });
  } finally {
    database.close();
  }
  const { statement, problem } = await ask('one');
  expect(statement).toBeNull();
  expect(problem).toMatch(text);
  expect(problem).toContain('projections rebuild tokens');
});

test('each answer on the command line is recorded as a read of the history, even if there is nothing to state', async () => {
  const reads = async () => {
    const path = '/logs?operation=read&entity_type=token&size=100';
    const { body } = await service.call('GET', path, undefined, { key: service.managementKey });
    return (body['data'] as unknown[]).length;
  };
  await create('one');
  await expect(ask('one')).rejects.toThrow('the token still exists');
  expect(await reads()).toBe(1);
  await remove('one');
  await stated('one');
  expect(await reads()).toBe(2);
});
