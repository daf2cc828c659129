import fs, { copyFileSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createBatchMover } from '#src/adapters/sqlite/access-log/batch-mover.js';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { dropOldAccess } from '#src/jobs/sweep.js';
import { logs } from '../../http/routes/list-logs/support.js';
import { createPlain, path } from '../../http/routes/support.js';
import { startTestService, type TestService } from '../../support/test-service.js';
import { verifyAccessChain } from '../../support/verify-access-chain.js';

/** Returns the months that have a file, in order. */
function monthsIn(dataDir: string): readonly string[] {
  return readdirSync(dataDir)
    .flatMap((name) => /^access-(.*)\.db$/.exec(name)?.[1] ?? [])
    .sort();
}

test('each month has its own file; files older than 13 months are removed, and the log continues', async () => {
  const service = await startTestService();
  const months = () => monthsIn(service.dataDir);
  const { id } = await createPlain(service);
  for (let month = 1; month < 15; month += 1) {
    service.clock.set(Date.UTC(2026, month, 1));
    await service.call('GET', path(id));
  }
  // A query first moves all journal entries to the month files, so these files contain every record after this query.
  expect(await logs(service, { entity_id: id, start_date: '2020-01-01' })).toHaveLength(15);
  expect(months()).toHaveLength(15);

  service.clock.set(Date.UTC(2027, 2, 31));
  await dropOldAccess(service.vault.accessLog, service.clock.now());
  expect(months()[0]).toBe('2026-02');
  expect(months()).toHaveLength(14);
  service.clock.set(Date.UTC(2027, 3, 1));
  await dropOldAccess(service.vault.accessLog, service.clock.now());
  expect(months()[0]).toBe('2026-03');
  for (const suffix of ['', '-wal', '-shm'])
    expect(existsSync(join(service.dataDir, `access-2026-02.db${suffix}`))).toBe(false);
  const left = await logs(service, { entity_id: id, start_date: '2020-01-01' });
  expect(left.map(({ created_at }) => created_at).at(-1)).toContain('2026-03-01');
  expect(left).toHaveLength(13);
  await service.close();
});

test.each([
  ['that stays', '2026-08'],
  ['that is due', '2026-02'],
  ['of the current month', '2027-04'],
])('a damaged file of a month %s does not keep other months', async (_what, damaged) => {
  const service = await startTestService();
  const months = () => monthsIn(service.dataDir);
  const { id } = await createPlain(service);
  for (let month = 1; month < 16; month += 1) {
    service.clock.set(Date.UTC(2026, month, 1));
    await service.call('GET', path(id));
  }
  await logs(service, { entity_id: id, start_date: '2020-01-01' });
  expect(months().slice(0, 3)).toEqual(['2026-01', '2026-02', '2026-03']);
  for (const suffix of ['-wal', '-shm'])
    rmSync(join(service.dataDir, `access-${damaged}.db${suffix}`), { force: true });
  writeFileSync(join(service.dataDir, `access-${damaged}.db`), 'damaged');
  await expect(service.vault.accessLog.dropMonths(Date.UTC(2026, 2, 1), service.clock.now())).rejects.toMatchObject({
    store: 'access log',
    found: { says: expect.stringContaining(`access-${damaged}.db is damaged`) },
  });
  expect(months().slice(0, -13)).toEqual(damaged === '2026-02' ? ['2026-02', '2026-03'] : ['2026-03']);
  await service.close();
});

test('while a file that is due has to stay, the repeated search for files to remove opens no file again', async () => {
  const service = await startTestService();
  const { accessLog } = service.vault;
  const { id } = await createPlain(service);
  service.clock.set(Date.UTC(2027, 5, 1));
  await service.call('GET', path(id));
  service.clock.step(Date.UTC(2026, 0, 31) - service.clock.now());
  await service.call('GET', path(id));
  const search = async () => {
    expect(await accessLog.dropMonths(Date.UTC(2026, 5, 1), Date.UTC(2027, 5, 2))).toBe(0);
    expect(await logs(service, { entity_id: id, start_date: '2020-01-01' })).toHaveLength(3);
  };
  await search();
  const statements = vi.spyOn(Database.prototype, 'prepare');
  onTestFinished(() => statements.mockRestore());
  await search();
  expect(statements).not.toHaveBeenCalled();

  // Does what the background thread does. All entries have been moved to the files.
  const journal = pinStatements(join(service.dataDir, 'journal.db'), { readonly: true });
  const mover = createBatchMover(journal, service.dataDir);
  expect(mover.drop('2026-06', '2027-06')).toBe(0);
  statements.mockClear();
  expect(mover.drop('2026-06', '2027-06')).toBe(0);
  expect(statements).not.toHaveBeenCalled();
  mover.close();
  journal.close();
  await service.close();
});

test('if the removal of several months is interrupted, no entries seem to be missing', async () => {
  const service = await startTestService();
  const { id } = await createPlain(service);
  for (let month = 1; month < 4; month += 1) {
    service.clock.set(Date.UTC(2026, month, 1));
    await service.call('GET', path(id));
  }
  expect(await logs(service, { entity_id: id, start_date: '2020-01-01' })).toHaveLength(4);
  const journal = pinStatements(join(service.dataDir, 'journal.db'), { readonly: true });
  const mover = createBatchMover(journal, service.dataDir);
  const remove = fs.rmSync;
  const spy = vi.spyOn(fs, 'rmSync').mockImplementation((file, options) => {
    if (String(file).endsWith('access-2026-02.db')) throw Object.assign(new Error('i/o error'), { code: 'EIO' });
    remove(file, options);
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
  expect(mover.drop('2026-04', '2026-04')).toBeInstanceOf(Error);
  expect(monthsIn(service.dataDir)).toEqual(['2026-02', '2026-03', '2026-04']);
  expect(await service.vault.accessLog.missing?.(false)).toBeNull();
  mover.close();
  journal.close();
  await service.close();
});

test('a copy of a month under the name of another month is named, and verification says where to look', async () => {
  const service = await startTestService();
  const { accessLog } = service.vault;
  const { id } = await createPlain(service);
  service.clock.set(Date.UTC(2026, 1, 1));
  await service.call('GET', path(id));
  expect(await accessLog.missing?.(true)).toBeNull();
  const [month = ''] = monthsIn(service.dataDir);
  const [from, to] = [join(service.dataDir, `access-${month}.db`), join(service.dataDir, 'access-2026-03.db')];
  copyFileSync(from, to);
  const says = `access-2026-03.db and access-${month}.db both begin with batch 1 of the access log`;
  expect(await accessLog.missing?.(true)).toMatchObject({ says: expect.stringContaining(says) });
  const { problem } = await verifyAccessChain(accessLog);
  expect(problem).toContain('batch 1 of chain vault of the access log is stored twice: `strongroom doctor`');
  await service.close();
});

test('an older copy of a month’s file is reported even if new entries were recorded since', async () => {
  const first = await startTestService();
  const { dataDir, rootKey, clock } = first;
  const readsOne = async (service: TestService) => {
    const { id } = await createPlain(service);
    expect((await service.call('GET', path(id))).status).toBe(200);
  };
  await readsOne(first);
  await first.stop();
  const [month = ''] = monthsIn(dataDir);
  const [file, older] = [join(dataDir, `access-${month}.db`), join(dataDir, 'older')];
  copyFileSync(file, older);
  const second = await startTestService({ dataDir, rootKey, clock });
  await readsOne(second);
  await second.stop();
  copyFileSync(older, file);
  const third = await startTestService({ dataDir, rootKey, clock });
  await readsOne(third);
  const lost = 'entries of the access log are missing';
  expect(await third.vault.accessLog.missing?.(true)).toMatchObject({ says: expect.stringContaining(lost) });
  await third.close();
});

test('entries that were recorded while the clock was set back are kept as long as the entries before them', async () => {
  const service = await startTestService();
  const { accessLog } = service.vault;
  const { id } = await createPlain(service);
  const [years, today] = [Date.UTC(2026, 0, 31) - Date.UTC(1970, 0, 31), service.clock.now()];
  const readAt = async (ms: number) => {
    service.clock.step(ms - service.clock.now());
    expect((await service.call('GET', path(id))).status).toBe(200);
  };
  const dropAt = async (ms: number) => {
    service.clock.step(ms - service.clock.now());
    await dropOldAccess(accessLog, service.clock.now());
    expect(await verifyAccessChain(accessLog, { hasDropped: true })).toMatchObject({ problem: null });
    expect(await accessLog.missing?.(false)).toBeNull();
    return (await logs(service, { entity_id: id, operation: 'reveal', start_date: '1970-01-01' })).length;
  };
  await readAt(today);
  await readAt(today - years);
  expect(await dropAt(today)).toBe(2);
  // A machine without a clock of its own starts at the same wrong time again.
  await readAt(today);
  await readAt(today - years);
  await readAt(Date.UTC(2026, 1, 1));
  expect(await dropAt(Date.UTC(2027, 1, 1))).toBe(5);
  expect(await dropAt(Date.UTC(2027, 2, 1))).toBe(1);
  await service.close();
});

test('if the journal cannot be written when months are dropped, the caller learns it, and the next drop completes', async () => {
  const service = await startTestService();
  await createPlain(service);
  const journal = pinStatements(join(service.dataDir, 'journal.db'), {});
  const { accessLog } = service.vault;
  const later = Date.UTC(2027, 2, 1);
  journal.exec('BEGIN IMMEDIATE');
  await expect(dropOldAccess(accessLog, later)).rejects.toMatchObject({
    name: 'StoreUnavailable',
    store: 'journal.db',
  });
  journal.exec('ROLLBACK');
  // The next start would move these batches again and recreate the removed file.
  const batches = journal.prepare('SELECT count(*) FROM batches').pluck();
  expect(batches.get()).toBeGreaterThan(0);
  await dropOldAccess(accessLog, later);
  expect(batches.get()).toBe(0);
  journal.close();
  await service.close();
});

test('a reader never sees a partially created month’s file', async () => {
  const service = await startTestService();
  const { id } = await createPlain(service);
  for (let month = 1; month < 40; month += 1) {
    service.clock.set(Date.UTC(2026, month, 1));
    let isRead = false;
    const read = service.call('GET', path(id)).finally(() => {
      isRead = true;
    });
    const { accessLog } = service.vault;
    while (!isRead) {
      await accessLog.heads(0);
      await new Promise(setImmediate);
    }
    expect((await read).status).toBe(200);
  }
  expect(await service.vault.accessLog.heads(0)).toHaveLength(1);
  await service.close();
});
