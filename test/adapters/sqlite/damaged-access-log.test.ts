import { createHash } from 'node:crypto';
import { closeSync, copyFileSync, openSync, readdirSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { everything } from '../../contract/access-log.js';
import { createPlain } from '../../http/routes/support.js';
import { http, makeVault, run, startService, type TestVault, until } from '../../support/process.js';
import { startTestService } from '../../support/test-service.js';

type End = { readonly sequence: number; readonly hash: Buffer };

/** Creates a vault with tokens whose access log entries are in a month's file, and stops its service. */
async function stoppedVault(): Promise<TestVault & { readonly file: string }> {
  const vault = await makeVault();
  const service = await startService(vault.flags);
  for (let number = 0; number < 40; number += 1) {
    const body = { id: `t-${number}`, type: 'token', data: 'x' };
    expect((await http('POST', `${service.address}/tokens`, { key: vault.key, body })).status).toBe(201);
  }
  await service.stop();
  const file = readdirSync(vault.dataDir).find((name) => /^access-.*\.db$/.test(name)) ?? '';
  expect(file).not.toBe('');
  return { ...vault, file };
}

/** Runs SQL in a file of the data directory. */
function change({ dataDir }: TestVault, file: string, sql: string, ...values: unknown[]): void {
  const database = pinStatements(join(dataDir, file), {});
  database.prepare(sql).run(...values);
  database.close();
}

/** Adds a batch to the journal. It continues the chain, and its hash is correct. */
function plant(vault: TestVault, lines: string): number {
  const journal = pinStatements(join(vault.dataDir, 'journal.db'), {});
  const newest = `SELECT sequence, hash FROM (SELECT sequence, hash FROM batches UNION ALL
    SELECT sequence, hash FROM ends WHERE of = 'batches') ORDER BY sequence DESC LIMIT 1`;
  const { sequence: before, hash: previous } = journal.prepare(newest).get() as End;
  const sequence = before + 1;
  const hash = createHash('sha256').update(previous).update(`${sequence}\n${lines}\n`).digest();
  journal.prepare('INSERT INTO batches VALUES (?, ?, ?, ?)').run(sequence, previous, hash, lines);
  journal.close();
  return sequence;
}

/** Overwrites a page of a file, counted from 1, with zeros. */
function zeroPage({ dataDir }: TestVault, file: string, page: number): void {
  const handle = openSync(join(dataDir, file), 'r+');
  writeSync(handle, Buffer.alloc(4_096), 0, 4_096, (page - 1) * 4_096);
  closeSync(handle);
}

/** Checks that `says` and `remedy` are in the log and in the output of these commands. */
async function expectReported(
  vault: TestVault,
  says: RegExp,
  remedy: RegExp,
  commands = [['doctor'], ['audit', 'verify']],
): Promise<void> {
  const service = await startService(vault.flags);
  // The vault finds the damage when it moves the first records, about a second after the start.
  await until('a rejected request', 30_000, async () => {
    const reveal = await http('GET', `${service.address}/tokens/t-1`, { key: vault.key });
    return (reveal.status === 503 && reveal.body['code'] === 'store_unavailable') || undefined;
  });
  expect((await http('GET', `${service.address}/health/ready`)).status).toBe(503);
  const logged = new RegExp(`"problem":"[^"]*${says.source}`);
  await until('the line of the log', 30_000, () => logged.test(service.stdout()) || undefined);
  const whileItRuns = await run(['doctor', ...vault.flags]);
  expect(whileItRuns.code, whileItRuns.stderr).toBe(3);
  expect(whileItRuns.stdout.match(new RegExp(says, 'g')), whileItRuns.stdout).toHaveLength(1);
  expect(whileItRuns.stdout).toMatch(remedy);
  expect(whileItRuns.stdout).not.toContain('Start the servers');
  await service.stop();
  for (const command of commands) {
    const { code, stdout, stderr } = await run([...command, ...vault.flags]);
    expect(code, stdout + stderr).not.toBe(0);
    expect(stdout + stderr).toMatch(says);
    expect(stdout + stderr).toMatch(remedy);
    expect(stdout + stderr).not.toMatch(/please report|unexpected error| at /);
  }
}

const fromBackup = /Find out who can write to the data directory, then restore it from a backup\./;
const moveAway = /Stop the service, move access-[\d-]+\.db and its -wal and -shm files out of the data directory/;

describe('journal.db', () => {
  test.each(['hello', '[]', `["a",1e17]`])('a planted batch with the line %s is named', async (lines) => {
    const vault = await stoppedVault();
    const sequence = plant(vault, lines);
    await expectReported(
      vault,
      new RegExp(`journal\\.db was changed by another program: batch ${sequence}`),
      fromBackup,
    );
  });

  test.each([
    ['missing', `DELETE FROM ends WHERE of = 'batches'`],
    ['impossible', `UPDATE ends SET sequence = 9223372036854775807 WHERE of = 'batches'`],
  ])('if the record of its newest batch is %s, the vault does not start, and the file is named', async (_what, sql) => {
    const vault = await stoppedVault();
    change(vault, 'journal.db', sql);
    await expect(startService(vault.flags)).rejects.toThrow(/journal\.db is damaged: .*ends.*restore/);
  });
});

describe('a month’s file', () => {
  test.each([
    [
      'with a zeroed page',
      (vault: TestVault, file: string) => zeroPage(vault, file, 5),
      [['doctor'], ['audit', 'verify']],
    ],
    [
      'with an impossible batch',
      (vault: TestVault, file: string) =>
        change(vault, file, 'INSERT INTO batches VALUES (9223372036854775807, zeroblob(32), zeroblob(32))'),
      [['doctor']],
    ],
  ])('%s is named, and the vault works again once it is moved away', async (_what, harm, commands) => {
    const vault = await stoppedVault();
    harm(vault, vault.file);
    await expectReported(vault, new RegExp(`${vault.file.replaceAll('.', '\\.')} is damaged`), moveAway, commands);
    for (const suffix of ['', '-wal', '-shm']) rmSync(join(vault.dataDir, vault.file + suffix), { force: true });
    const service = await startService(vault.flags);
    expect((await http('GET', `${service.address}/tokens/t-1`, { key: vault.key })).status).toBe(200);
    expect((await http('GET', `${service.address}/health/ready`)).status).toBe(200);
    const { code, stdout } = await run(['doctor', ...vault.flags]);
    expect([code, stdout]).toEqual([3, expect.stringContaining('entries of the access log are missing')]);
  });
});

test('an older copy of a damaged month’s file can be put in its place', async () => {
  const vault = await stoppedVault();
  const path = join(vault.dataDir, vault.file);
  copyFileSync(path, join(vault.dir, 'older'));
  const before = await startService(vault.flags);
  expect((await http('GET', `${before.address}/tokens/t-1`, { key: vault.key })).status).toBe(200);
  await before.stop();
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
  copyFileSync(join(vault.dir, 'older'), path);
  const service = await startService(vault.flags);
  expect((await http('GET', `${service.address}/tokens/t-1`, { key: vault.key })).status).toBe(200);
  expect((await http('GET', `${service.address}/health/ready`)).status).toBe(200);
  const lost = 'entries of the access log are missing';
  await until('the warning', 30_000, () => service.stdout().includes(lost) || undefined);
  const { code, stderr } = await run(['audit', 'verify', ...vault.flags]);
  expect([code, stderr]).toEqual([3, expect.stringContaining('batches were removed or replaced')]);
});

test('a row of a month’s file that is no longer an entry is reported as damage of that file', async () => {
  const service = await startTestService();
  await createPlain(service);
  const query = () => service.vault.accessLog.query(service.tenantId, everything, { offset: 0, limit: 100 });
  expect((await query()).entries.length).toBeGreaterThan(0);
  const database = pinStatements(join(service.dataDir, 'access-2026-01.db'), {});
  database.prepare(`DELETE FROM words WHERE text = 'application'`).run();
  database.close();
  const error = await query().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(StoreUnavailable);
  expect(error).toMatchObject({
    store: 'access log',
    found: {
      says: expect.stringMatching(/^access-2026-01\.db is damaged: batch \d+ contains/),
      do: expect.stringMatching(moveAway),
    },
  });
  await service.close();
});

test('a removed month’s file is reported at the start and by doctor, before and after new entries are recorded', async () => {
  const vault = await stoppedVault();
  const intact = await run(['doctor', ...vault.flags]);
  expect(intact.stdout).toMatch(/ok +access log/);
  renameSync(join(vault.dataDir, vault.file), join(vault.dir, 'aside'));
  const lost = 'entries of the access log are missing: no file contains ';
  const stopped = await run(['doctor', ...vault.flags]);
  expect([stopped.code, stopped.stdout]).toEqual([3, expect.stringContaining(lost)]);
  const service = await startService(vault.flags);
  await until('the warning', 30_000, () => service.stdout().includes(lost) || undefined);
  expect((await http('GET', `${service.address}/tokens/t-1`, { key: vault.key })).status).toBe(200);
  expect((await http('GET', `${service.address}/health/ready`)).status).toBe(200);
  const running = await run(['doctor', ...vault.flags]);
  expect([running.code, running.stdout]).toEqual([3, expect.stringContaining(lost)]);
});
