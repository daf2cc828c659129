import { randomUUID } from 'node:crypto';
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { numberBytes } from '#src/adapters/sqlite/database/number-bytes.js';
import { packStream } from '#src/adapters/sqlite/database/packed-text.js';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { checkTokenRows } from '#src/audit/check-rows.js';
import { verifyVault } from '#src/cli/audit/run-verify.js';
import { apiKeyHash } from '#src/domain/tenancy/api-key.js';
import { operate } from '../../audit/operate.js';
import { anHour, create, keyIdBytes, keyIdsOf, streamOf, tamper } from '../../erasure/support.js';
import { rebuildTokens } from '../../rebuild/support.js';
import { behindTriggers } from '../../support/behind-triggers.js';
import { copyOf } from '../../support/process.js';
import { embeddedOnly } from '../../support/profile.js';
import { startTestService, type TestService } from '../../support/test-service.js';

/**
 * These tests cover the part of the threat table in SECURITY.md that describes remaining risks: what an attacker who
 * can write to one store can still do.
 */

let service: TestService;
beforeEach(async (context) => {
  embeddedOnly(context, 'it writes to files of SQLite');
  service = await startTestService();
});
afterEach(() => service?.close());

const plain = (fields: object = {}) => create(service, { type: 'token', data: 'value', ...fields });
const get = (id: string) => service.call('GET', `/tokens/${id}`);
const changed = (statement: string, ...values: unknown[]) =>
  expect(tamper(service.dataDir, 'vault.db', statement, ...values)).toBeGreaterThan(0);

test('rows: a token whose row was deleted is missing, and a damaged one is rejected', async () => {
  const [missing, damaged] = [await plain(), await plain()];
  changed('DELETE FROM token_rows_1 WHERE stream = ?', packStream(await streamOf(service, missing)));
  changed('UPDATE token_rows_1 SET content_at = NULL WHERE stream = ?', packStream(await streamOf(service, damaged)));
  expect((await get(missing)).status).toBe(404);
  expect(await get(damaged)).toMatchObject({ status: 500, body: { code: 'row_forged' } });
});

test('rows: if the row of a token was deleted with its postings, verification reports it', async () => {
  const id = await plain();
  await plain();
  expect(await verified(service)).toBeNull();
  changed('DELETE FROM token_rows_1 WHERE stream = ?', packStream(await streamOf(service, id)));
  changed('DELETE FROM index_changes_1');
  expect(await verified(service)).toMatchObject({ kind: 'missing_row' });
});

test('rows: a search misses a token whose terms were deleted', async () => {
  const id = await plain({ metadata: { customer: 'c-17' } });
  const found = () => service.call('POST', '/tokens/search', { query: 'metadata.customer:c-17' });
  expect((await found()).body).toMatchObject({ pagination: { total_items: 1 } });
  changed('DELETE FROM index_changes_1');
  expect((await found()).body).toMatchObject({ pagination: { total_items: 0 } });
  expect((await get(id)).status).toBe(200);
});

test('rows: without its due time, a token is rejected, and the sweep does not destroy its key', async () => {
  const id = await plain({ expires_at: new Date(service.clock.now() + anHour).toISOString() });
  const { content } = await keyIdsOf(service, id);
  changed('UPDATE token_rows_1 SET expires_at = NULL WHERE stream = ?', packStream(await streamOf(service, id)));
  expect(await get(id)).toMatchObject({ status: 500, body: { code: 'row_forged' } });
  service.clock.advance(2 * anHour);
  await service.service.sweep.run();
  const keyStatuses = await service.vault.keys.keyStatuses([...content]);
  expect(keyStatuses.map(({ destroyedAt }) => destroyedAt)).toEqual(content.map(() => null));
});

test('rows: names that the vault never writes stop neither a check, nor a sweep, nor a rebuild', async () => {
  const ids = [await plain(), await plain({ expires_at: new Date(service.clock.now() + anHour).toISOString() })];
  const keys = await keyIdsOf(service, ids[1] ?? '');
  const database = pinStatements(join(service.dataDir, 'vault.db'), {});
  database.pragma('ignore_check_constraints = ON');
  const plant = database.prepare(
    `INSERT INTO token_rows_1 (stream, tenant, revision, type, mac, seq, expires_at) VALUES (?, ?, 0, 'token', ?, ?, ?)`,
  );
  /** Plants a row with a name of 33 bytes. */
  const plantRow = (n: number, expiresAt: number | null) => {
    const name = Buffer.alloc(33);
    name.writeUInt32BE(n);
    plant.run(name, service.tenantId, Buffer.alloc(32), 1_000_000 + n, expiresAt);
  };
  for (let n = 1; n <= 600; n += 1) plantRow(n, n <= 20 ? 1 : null);
  const first = await checkTokenRows(service.vault, '');
  expect(first).toEqual({ rows: 2, live: 2, problems: [], next: null });
  service.clock.advance(2 * anHour);
  await service.service.sweep.run();
  const ended = await service.vault.keys.keyStatuses([...keys.content]);
  expect(ended.every(({ destroyedAt }) => destroyedAt !== null)).toBe(true);
  for (let n = 601; n <= 1_600; n += 1) plantRow(n, 1);
  database.close();
  await service.service.sweep.run();
  expect(await rebuildTokens(service)).toMatchObject({ outcome: 'done', different: 0 });
  expect((await get(ids[0] ?? '')).status).toBe(200);
});

test('rows: if an older row of a token is put back, an update and a deletion decide on the newest state', async () => {
  const id = await plain({ metadata: { step: 'one' } });
  const database = pinStatements(join(service.dataDir, 'vault.db'), {});
  onTestFinished(() => void database.close());
  const name = packStream(await streamOf(service, id));
  const columns = 'stream, tenant, revision, type, life, content_at, cvc_at, mac, seq, created_at, modified_at';
  const older = database.prepare(`SELECT ${columns} FROM token_rows_1 WHERE stream = ?`).raw().get(name) as unknown[];
  const putBack = database.prepare(
    `UPDATE token_rows_1 SET (${columns}) = (${older.map(() => '?').join(', ')}) WHERE stream = ?`,
  );
  const patch = (body: object) => service.call('PATCH', `/tokens/${id}`, body);
  expect((await patch({ data: 'new value', metadata: { step: 'two' } })).status).toBe(200);
  expect(putBack.run(...older, name).changes).toBe(1);
  expect(await patch({ metadata: { other: 'three' } })).toMatchObject({
    status: 200,
    body: { metadata: { step: 'two', other: 'three' }, data: 'new value' },
  });
  expect((await get(id)).body).toMatchObject({ data: 'new value' });
  expect(putBack.run(...older, name).changes).toBe(1);
  expect(await patch({})).toMatchObject({ status: 200, body: { metadata: { other: 'three' }, data: 'new value' } });
  expect(putBack.run(...older, name).changes).toBe(1);
  expect((await service.call('DELETE', `/tokens/${id}`)).status).toBe(204);
  expect((await get(id)).status).toBe(404);
});

test('rows: an older row is reported even if the newer event was removed from the log', async () => {
  const id = await plain({ metadata: { step: 'one' } });
  const stream = await streamOf(service, id);
  const older = takeRow('vault.db', 'token_rows_1', 'stream = ?', packStream(stream));
  expect((await service.call('PATCH', `/tokens/${id}`, { metadata: { step: 'two' } })).status).toBe(200);
  const database = pinStatements(join(service.dataDir, 'vault.db'), {});
  const remove = database.prepare('DELETE FROM events WHERE stream = ? AND revision = 1');
  behindTriggers(database, () => expect(remove.run(packStream(stream)).changes).toBe(1));
  database.close();
  older.putBack();
  const { problems } = await checkTokenRows(service.vault, '');
  expect(problems).toEqual([{ row: { of: 'token', name: stream }, what: 'outdated' }]);
});

test('rows: if the row of a deleted token is put back, it is rejected as an older row, and its key does not count as lost', async () => {
  const id = await plain();
  const stream = await streamOf(service, id);
  const row = takeRow('vault.db', 'token_rows_1', 'stream = ?', packStream(stream));
  const database = pinStatements(join(service.dataDir, 'vault.db'), {});
  const change = database.prepare('SELECT seq, added FROM index_changes_1 ORDER BY number DESC LIMIT 1').get();
  expect((await service.call('DELETE', `/tokens/${id}`)).status).toBe(204);
  row.putBack();
  const rejected = { status: 500, body: { code: 'row_forged' } };
  expect(await get(id)).toMatchObject(rejected);
  const body = { type: 'token', data: 'value', deduplicate_token: true };
  expect(await service.call('POST', '/tokens', body)).toMatchObject(rejected);
  // A term has 16 bytes, and the number of a change counts the terms.
  const number = '(SELECT max(number) FROM index_changes_1) + length(@added) / 16';
  database.prepare(`INSERT INTO index_changes_1 (number, seq, added) VALUES (${number}, @seq, @added)`).run(change);
  database.close();
  expect(await service.call('GET', '/tokens')).toMatchObject(rejected);
});

test('log: a damaged event whose ciphertext is no longer in use stops neither updates, nor expiry, nor deletion', async () => {
  const expires_at = new Date(service.clock.now() + anHour).toISOString();
  const [deleted, expiring] = [await plain(), await plain({ expires_at })];
  const keys: string[] = [];
  for (const id of [deleted, expiring]) {
    await service.call('PATCH', `/tokens/${id}`, { data: 'new value' });
    keys.push(...(await keyIdsOf(service, id)).content.slice(-1));
    const name = packStream(await streamOf(service, id));
    const database = pinStatements(join(service.dataDir, 'vault.db'), {});
    const damage = database.prepare(`UPDATE events SET content = zeroblob(99) WHERE stream = ? AND revision = 0`);
    behindTriggers(database, () => expect(damage.run(name).changes).toBe(1));
    database.close();
  }
  expect((await service.call('GET', `/tokens/${deleted}/history`)).status).toBe(500);
  expect((await service.call('PATCH', `/tokens/${deleted}`, { metadata: { step: 'two' } })).status).toBe(200);
  const destroyed = async () =>
    (await service.vault.keys.keyStatuses(keys)).map(({ destroyedAt }) => destroyedAt !== null);
  expect(await destroyed()).toEqual([false, false]);
  expect((await service.call('DELETE', `/tokens/${deleted}`)).status).toBe(204);
  service.clock.advance(2 * anHour);
  await service.service.sweep.run();
  expect(await destroyed()).toEqual([true, true]);
});

test('rows: without its claim, a retried request runs again', async () => {
  const id = await plain();
  const headers = { 'idempotency-key': randomUUID() };
  const patch = (value: string) => service.call('PATCH', `/tokens/${id}`, { metadata: { step: value } }, { headers });
  expect((await patch('one')).status).toBe(200);
  await service.call('PATCH', `/tokens/${id}`, { metadata: { step: 'two' } });
  expect((await patch('one')).status).toBe(200);
  expect((await get(id)).body).toMatchObject({ metadata: { step: 'two' } });
  changed('DELETE FROM claims');
  expect((await patch('one')).status).toBe(200);
  expect((await get(id)).body).toMatchObject({ metadata: { step: 'one' } });
});

test('keys: overwriting a key makes the data under it unreadable', async () => {
  const id = await plain();
  expect(
    tamper(service.dataDir, 'keys.db', 'UPDATE data_keys SET wrapped = zeroblob(length(wrapped))'),
  ).toBeGreaterThan(0);
  const again = await reopened();
  expect((await again.call('GET', `/tokens/${id}`, undefined, { key: service.key })).status).toBe(500);
});

test('keys: if the search keys are removed, the vault does not start', async () => {
  await plain();
  expect(tamper(service.dataDir, 'keys.db', 'DELETE FROM generation_keys')).toBe(1);
  await expect(reopened()).rejects.toThrow('keys.db lacks its search keys: restore it from a backup.');
});

test('keys: if the integrity key is replaced, no row is authentic, and the vault does not start', async () => {
  const exchange =
    "UPDATE tenant_keys SET wrapped = (SELECT wrapped FROM tenant_keys WHERE purpose <> 'integrity') WHERE purpose = 'integrity'";
  expect(tamper(service.dataDir, 'keys.db', exchange)).toBe(1);
  await expect(reopened()).rejects.toThrow(
    'the integrity key in keys.db does not open: restore keys.db from a backup.',
  );
});

test('keys and rows together: an older row of a live token is accepted once its recorded revision is removed', async () => {
  const id = await plain({ metadata: { step: 'one' } });
  const stream = await streamOf(service, id);
  const database = pinStatements(join(service.dataDir, 'vault.db'), {});
  const row = database.prepare('SELECT * FROM token_rows_1 WHERE stream = ?').get(packStream(stream)) as Record<
    string,
    unknown
  >;
  await service.call('PATCH', `/tokens/${id}`, { metadata: { step: 'two' } });
  const names = Object.keys(row);
  database
    .prepare(`REPLACE INTO token_rows_1 (${names.join()}) VALUES (${names.map((name) => `@${name}`).join()})`)
    .run(row);
  database.close();
  expect(await get(id)).toMatchObject({ status: 500, body: { code: 'row_forged' } });
  // The highest value means "no revision". Keys that were created in advance have this value. The second change below
  // is necessary because the shredder would otherwise read the log again and record the revisions.
  const forget = 'UPDATE data_keys SET revision = (SELECT max(revision) FROM data_keys)';
  expect(tamper(service.dataDir, 'keys.db', forget)).toBeGreaterThan(0);
  const head = numberBytes(await service.vault.log.head());
  expect(tamper(service.dataDir, 'keys.db', 'REPLACE INTO meta (name, value) VALUES (?, ?)', 'shredder', head)).toBe(1);
  const again = await reopened();
  expect(await again.call('GET', `/tokens/${id}`, undefined, { key: service.key })).toMatchObject({
    status: 200,
    body: { metadata: { step: 'one' } },
  });
});

test('keys and rows together: a deleted token is live again once its key and its row are put back', async () => {
  const id = await plain();
  const { content } = await keyIdsOf(service, id);
  const key = takeRow('keys.db', 'data_keys', 'id = ?', keyIdBytes(content[0] ?? ''));
  const row = takeRow('vault.db', 'token_rows_1', 'stream = ?', packStream(await streamOf(service, id)));
  expect((await service.call('DELETE', `/tokens/${id}`)).status).toBe(204);
  row.putBack();
  expect(await get(id)).toMatchObject({ status: 500, body: { code: 'row_forged' } });
  expect(await verified(service)).toMatchObject({ kind: 'forged_row' });
  key.putBack();
  row.putBack();
  expect(await get(id)).toMatchObject({ status: 200, body: { data: 'value' } });
  expect(await verified(service)).toMatchObject({ kind: 'forged_row' });
});

test('keys and rows together: until the next start, an older row of an application is accepted once its recorded revision is reduced', async () => {
  const id = await plain();
  const key = await service.application(['token:read']);
  const { id: applicationId, revision } = await applicationOf(key);
  const row = takeRow('vault.db', 'directory', "kind = 'application' AND id = ?", applicationId);
  const hash = takeRow('vault.db', 'api_keys', 'application = ?', applicationId);
  const putBack = () => {
    row.putBack();
    hash.putBack();
  };
  const read = async (at = service) => {
    service.clock.advance(1_000);
    return (await at.call('GET', `/tokens/${id}`, undefined, { key })).status;
  };
  const path = `/applications/${applicationId}`;
  expect((await service.call('DELETE', path, undefined, { key: service.managementKey })).status).toBe(204);
  putBack();
  expect(await read()).toBe(401);
  const reduce = 'UPDATE directory_revisions SET revision = ? WHERE id = ?';
  expect(tamper(service.dataDir, 'keys.db', reduce, revision, applicationId)).toBe(1);
  putBack();
  expect(await read()).toBe(200);
  expect(await read(await reopened())).toBe(401);
});

async function applicationOf(key: string) {
  const record = await service.vault.directory.byKeyHash(apiKeyHash(key));
  if (record === null) throw new Error('no application has this key');
  return record;
}

/** Takes a copy of a row. `putBack` replaces the current row with the copy. */
function takeRow(file: 'keys.db' | 'vault.db', table: string, where: string, value: unknown) {
  const database = pinStatements(join(service.dataDir, file), { readonly: true });
  const row = database.prepare(`SELECT * FROM ${table} WHERE ${where}`).get(value) as Record<string, unknown>;
  database.close();
  const names = Object.keys(row);
  const replace = `REPLACE INTO ${table} (${names.join()}) VALUES (${names.map(() => '?').join()})`;
  return { putBack: () => expect(tamper(service.dataDir, file, replace, ...Object.values(row))).toBe(1) };
}

/** Removes the newest batch from its month's file. Returns the sequence number and the hash of the batch before it. */
function removeNewestBatch(dataDir: string): { readonly sequence: number; readonly hash: Buffer } {
  const [file = ''] = readdirSync(dataDir).filter((name) => /^access-.*\.db$/.test(name));
  const database = pinStatements(join(dataDir, file), {});
  const removed = behindTriggers(database, () => {
    const newest = '(SELECT max(sequence) FROM batches)';
    const { changes } = database.prepare(`DELETE FROM entries WHERE batch = ${newest}`).run();
    database.exec(`DELETE FROM batches WHERE sequence = ${newest}`);
    return changes;
  });
  expect(removed).toBeGreaterThan(0);
  const end = database.prepare('SELECT sequence, hash FROM batches ORDER BY sequence DESC LIMIT 1').get();
  database.close();
  return end as { readonly sequence: number; readonly hash: Buffer };
}

async function verified(started?: TestService) {
  const opened = started ?? (await reopened({ sameFolder: true }));
  const options = { from: 1, to: null, anchor: null, publicKey: null, json: false };
  return (await verifyVault((name, input) => operate(opened.service, name, input), options)).problem;
}

test('access log: the journal shows that the newest batch was removed after the last checkpoint', async () => {
  const id = await plain();
  await service.service.checkpointer.run('grown');
  await get(id);
  await service.stop();
  removeNewestBatch(service.dataDir);
  expect(await verified()).toMatchObject({ kind: 'access_log' });
});

test('access log and journal: if the attacker also changes the end in journal.db, verification does not reveal the removal', async () => {
  const id = await plain();
  await service.service.checkpointer.run('grown');
  await get(id);
  await service.stop();
  const { sequence, hash } = removeNewestBatch(service.dataDir);
  const journal = pinStatements(join(service.dataDir, 'journal.db'), {});
  journal.prepare(`UPDATE ends SET sequence = ?, hash = ? WHERE of = 'batches'`).run(sequence, hash);
  journal.close();
  expect(await verified()).toBeNull();
});

describe('an older vault.db that is restored after a kill', () => {
  const withOlder = async (isReplaced: (file: string) => boolean) => {
    const id = await plain({ metadata: { step: 'one' } });
    const before = copyOf(service.dataDir);
    await service.call('PATCH', `/tokens/${id}`, { metadata: { step: 'two' } });
    // A kill would leave this state.
    const killed = copyOf(service.dataDir);
    for (const name of readdirSync(killed).filter(isReplaced)) rmSync(join(killed, name));
    for (const name of readdirSync(before).filter(isReplaced)) cpSync(join(before, name), join(killed, name));
    const again = await startTestService({ dataDir: killed, rootKey: service.rootKey, clock: service.clock });
    onTestFinished(() => again.close());
    return again.call('GET', `/tokens/${id}`, undefined, { key: service.key });
  };

  test('alone loses nothing, because the journal contains the change', async () => {
    const { status, body } = await withOlder((file) => file.startsWith('vault.db'));
    expect({ status, body }).toMatchObject({ status: 200, body: { metadata: { step: 'two' } } });
  });

  test('together with the older journal loses a change from the last minute, and the token of this change is rejected from then on', async () => {
    // The vault accepts the older log. It rejects the token's older row, because the key store has recorded a newer
    // revision.
    const { status, body } = await withOlder((file) => /^(vault|journal)\.db/.test(file));
    expect({ status, body }).toMatchObject({ status: 500, body: { code: 'row_forged' } });
  });
});

/**
 * Opens the files as another process would. By default, it opens a copy, as after a kill. With `sameFolder`, it opens
 * the original files, as after a stop.
 */
async function reopened({ sameFolder = false } = {}): Promise<TestService> {
  const dataDir = sameFolder ? service.dataDir : copyOf(service.dataDir);
  const again = await startTestService({ dataDir, rootKey: service.rootKey, clock: service.clock });
  onTestFinished(() => again.close());
  return again;
}
