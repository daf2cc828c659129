import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { sqliteSearchIndexCheck } from '#src/adapters/sqlite/search-index-check.js';
import { tamper } from '../../erasure/support.js';
import { rebuildTokens } from '../../rebuild/support.js';
import { copyOf, makeVault, run, startService, tempDir } from '../../support/process.js';
import { startTestService, type TestService } from '../../support/test-service.js';

const tokens = 250;

/**
 * Creates a vault whose search index has a run and a tail, and stops its service. Returns the service, and the flags
 * that the commands need to use this vault.
 */
async function stoppedVault() {
  const service = await startTestService({ dataDir: join(tempDir(), 'data') });
  const create = (i: number) =>
    service.call('POST', '/tokens', {
      id: `t-${i}`,
      type: 'token',
      data: 'x',
      metadata: { n: `${i}`, a: 'b', c: 'd' },
    });
  for (const { status, text } of await Promise.all(Array.from({ length: tokens }, (_, i) => create(i)))) {
    expect(status, text).toBe(201);
  }
  await service.stop();
  const rootKeyFile = join(tempDir(), 'root.key');
  writeFileSync(rootKeyFile, `${service.rootKey.toString('hex')}\n`, { mode: 0o600 });
  return { service, flags: ['--data', service.dataDir, '--root-key-file', rootKeyFile] };
}

/** Flips one bit of `vault.db`, near the end of the value returned by the query. */
function flip(dataDir: string, sql: string): void {
  const path = join(dataDir, 'vault.db');
  const database = pinStatements(path, { readonly: true });
  const stored = database.prepare(sql).pluck().get() as Buffer;
  database.close();
  const file = readFileSync(path);
  // Searches for the last 12 bytes of the value, because they include its checksum and occur only once in the file. The
  // terms in the value would not be unique, because the token rows contain them too.
  const at = file.indexOf(stored.subarray(stored.length - 12));
  expect(at, 'the stored value must be in the file').toBeGreaterThan(0);
  file.writeUInt8(file.readUInt8(at + 7) ^ 1, at + 7);
  writeFileSync(path, file);
}

function total({ call }: TestService, key: string, query: string) {
  return call('POST', '/tokens/search', { query, size: 1 }, { key });
}

const repair = 'Run: strongroom projections rebuild tokens';

async function doctor(flags: readonly string[]): Promise<string> {
  return (await run(['doctor', ...flags])).stdout;
}

describe.each([
  ['a block', 'SELECT entries FROM index_blocks_1 ORDER BY block LIMIT 1', 'block 0 of segment 1'],
  ['the fences', 'SELECT fences FROM index_segments_1 LIMIT 1', 'the fences of segment 1'],
  ['the filter', 'SELECT filter FROM index_filters_1 LIMIT 1', 'the filter of segment 1'],
  ['a change', 'SELECT added FROM index_changes_1 WHERE added IS NOT NULL ORDER BY number DESC LIMIT 1', 'change '],
])('one bit of %s', (_what, sql, part) => {
  test('is named by searches and by doctor, with the repair; other requests work, and the repair does', async () => {
    const { service: before, flags } = await stoppedVault();
    const { key, dataDir, rootKey } = before;
    flip(dataDir, sql);
    const said = `the search index in vault.db is damaged: ${part}`;
    const found = await doctor(flags);
    expect(found).toMatch(/PROBLEM +search index/);
    expect(found).toContain(said);
    expect(found).toContain(repair);

    const service = await startTestService({ dataDir, rootKey });
    onTestFinished(() => service.close());
    const { created_by: creator, fingerprint } = (await service.call('GET', '/tokens/t-1', undefined, { key })).body;
    // The index is sorted by keyed hashes of terms, so a block can contain any one term, and no other. These searches
    // use all terms that the tokens share, and all terms of single tokens.
    const queries = [
      '',
      'type:token',
      `created_by:${creator}`,
      `fingerprint:${fingerprint}`,
      'container:/general/high/',
      'container:/general/high/*',
      'container:/general/*',
      'metadata.a:b',
      'metadata.c:d',
      ...Array.from({ length: tokens }, (_, i) => `metadata.n:${i}`),
    ];
    const ids = Array.from({ length: tokens }, (_, i) => `id:t-${i}`);
    const answersTo = (some: readonly string[]) => Promise.all(some.map((query) => total(service, key, query)));
    const answers = [...(await answersTo(queries)), ...(await answersTo(ids))];
    const wrong = answers.filter(({ status }) => status !== 500);
    // A search that does not need the damaged part returns the correct total.
    for (const { status, body } of wrong) {
      expect(status).toBe(200);
      expect([1, tokens]).toContain((body['pagination'] as { total_items: number }).total_items);
    }
    expect(wrong.length).toBeLessThan(answers.length);
    for (const error of service.errors.splice(0)) {
      expect(error).toMatchObject({ name: 'IndexDamaged', message: expect.stringContaining(said) });
      expect(String(error)).toContain(repair);
    }
    expect((await service.call('GET', '/tokens/t-1', undefined, { key })).status).toBe(200);
    expect((await service.call('POST', '/tokens', { type: 'token', data: 'y' }, { key })).status).toBe(201);
    expect((await service.call('DELETE', '/tokens/t-1', undefined, { key })).status).toBe(204);

    await rebuildTokens(service);
    expect((await total(service, key, '')).body['pagination']).toMatchObject({ total_items: tokens });
    expect((await total(service, key, 'metadata.n:2')).body['pagination']).toMatchObject({ total_items: 1 });
    expect(await service.vault.searchIndex.run()).toEqual([]);
    expect(service.errors).toEqual([]);
  }, 180_000);
});

test('doctor finds changed token counts, and a rebuild corrects them', async () => {
  const { service: before, flags } = await stoppedVault();
  const { key, dataDir, rootKey, tenantId } = before;
  const count = `tenant = '${tenantId}' AND type = 'token'`;
  expect(await doctor(flags)).toMatch(/ok +search index .*the token counts match/);
  for (const sql of [
    `UPDATE token_counts_1 SET count = count + 5000 WHERE ${count}`,
    `DELETE FROM token_counts_1 WHERE ${count}`,
    `INSERT INTO token_counts_1 VALUES ('${tenantId}', 'card', 7)`,
  ]) {
    const copy = copyOf(dataDir);
    expect(tamper(copy, 'vault.db', sql)).toBe(1);
    const found = await doctor(['--data', copy, ...flags.slice(2)]);
    expect(found, sql).toMatch(
      new RegExp(
        `PROBLEM +token counts +the counts of tokens in vault\\.db do not match the rows of tenant ${tenantId}`,
      ),
    );
    expect(found, sql).toContain('strongroom projections rebuild tokens');
  }
  const both = copyOf(dataDir);
  expect(tamper(both, 'vault.db', 'UPDATE index_runs_1 SET seq_max = seq_min')).toBeGreaterThan(0);
  expect(tamper(both, 'vault.db', `UPDATE token_counts_1 SET count = count + 5000 WHERE ${count}`)).toBe(1);
  const foundBoth = await doctor(['--data', both, ...flags.slice(2)]);
  expect(foundBoth).toMatch(/PROBLEM +search index/);
  expect(foundBoth).toMatch(/PROBLEM +token counts/);
  expect(tamper(dataDir, 'vault.db', `UPDATE token_counts_1 SET count = count + 5000 WHERE ${count}`)).toBe(1);
  const service = await startTestService({ dataDir, rootKey });
  onTestFinished(() => service.close());
  await rebuildTokens(service);
  expect(await service.vault.searchIndex.run()).toEqual([]);
  const page = (await total(service, key, '')).body['pagination'];
  expect([...(await service.vault.rows.countByType(tenantId, service.clock.now())).values()]).toEqual([
    (page as { total_items: number }).total_items,
  ]);
}, 180_000);

test('doctor finds damage in a column without a checksum', async () => {
  const { service, flags } = await stoppedVault();
  const [, , ...rootKey] = flags;
  expect(await doctor(flags)).toMatch(/ok +search index +matches the token rows/);
  for (const sql of [
    'UPDATE index_runs_1 SET seq_max = seq_min',
    `UPDATE index_runs_1 SET state = 'dropped'`,
    'UPDATE index_segments_1 SET run = run + 1000',
    'UPDATE index_state_1 SET merged = merged - 1',
    'UPDATE token_rows_1 SET seq = seq + 100000',
  ]) {
    const copy = copyOf(service.dataDir);
    expect(tamper(copy, 'vault.db', sql)).toBeGreaterThan(0);
    const found = await doctor(['--data', copy, ...rootKey]);
    expect(found, sql).toMatch(/PROBLEM +search index +the search index in vault\.db is damaged: /);
    expect(found, sql).toContain(repair);
  }
}, 180_000);

test('the log of a starting service names damage in what every search reads', async () => {
  const { dataDir, flags } = await makeVault();
  expect(tamper(dataDir, 'vault.db', 'INSERT INTO index_changes_1 VALUES (3, 1, zeroblob(52), NULL)')).toBe(1);
  const service = await startService(flags);
  expect(service.stdout()).toContain(`the search index in vault.db is damaged: change 3. ${repair}`);
  expect(await service.stop()).toMatchObject({ code: 0 });
});

test('damage that ends the maintenance of the index is a notice until a rebuild has repaired it', async () => {
  const { service: before } = await stoppedVault();
  const { key, dataDir, rootKey } = before;
  flip(dataDir, 'SELECT entries FROM index_blocks_1 ORDER BY block LIMIT 1');
  const service = await startTestService({ dataDir, rootKey });
  onTestFinished(() => service.close());
  const notices = async () => (await service.service.state()).notices;
  expect(await notices()).toEqual([]);
  for (const id of ['t-1', 't-2', 't-3']) {
    expect((await service.call('DELETE', `/tokens/${id}`, undefined, { key })).status).toBe(204);
  }
  const says = 'the search index in vault.db is damaged: block 0 of segment 1';
  const notice = { check: 'search index', says, do: 'Run: strongroom projections rebuild tokens' };
  await expect.poll(notices, { timeout: 60_000 }).toEqual([notice]);
  await rebuildTokens(service);
  await expect.poll(notices, { timeout: 60_000 }).toEqual([]);
}, 180_000);

test('the check of the index reports a file that SQLite cannot read as damaged', async () => {
  const path = join(tempDir(), 'vault.db');
  writeFileSync(path, 'not a database'.repeat(1_000));
  const check = sqliteSearchIndexCheck(() => pinStatements(path, { readonly: true }));
  await expect(check.run()).rejects.toThrow('vault.db is damaged');
});
