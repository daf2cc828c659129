import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { dailyCountsFile, sqliteDailyCounts } from '#src/adapters/sqlite/daily-counts.js';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { countDays } from '#src/projections/daily-counts.js';
import { filesOf, findTexts } from '../../erasure/files.js';
import { createPlain, path } from '../../http/routes/support.js';
import { tempDir } from '../../support/process.js';
import { startTestService } from '../../support/test-service.js';

const count = { tenantId: 'one', series: 'tokens', day: 20_000, name: 'card', what: 'created', count: 1 } as const;
const step = { source: 'log', from: 0, to: 10, counts: [count], ended: [] };

async function counted(dataDir: string, logId = 'a log') {
  const counts = sqliteDailyCounts(dataDir, logId);
  const found = await counts.days('one', 'tokens', 0, 99_999);
  const positions = await counts.positions();
  counts.close();
  return { found, positions: [...positions] };
}

async function filled(): Promise<string> {
  const dataDir = tempDir();
  const counts = sqliteDailyCounts(dataDir, 'a log');
  expect(readdirSync(dataDir), 'before the first use').toEqual([]);
  await counts.add(step);
  counts.close();
  return dataDir;
}

const nothing = { found: [], positions: [] };

test('counts that belong to this log survive a restart, and counts that belong to another log are removed', async () => {
  const dataDir = await filled();
  expect(await counted(dataDir)).toEqual({ found: [count], positions: [['log', 10]] });
  expect(await counted(dataDir, 'another log')).toEqual(nothing);
});

test('a file that is damaged, or to which another program added a trigger, is replaced', async () => {
  const damaged = await filled();
  writeFileSync(join(damaged, dailyCountsFile), 'not a database, but long enough to look like one'.repeat(100));
  expect(await counted(damaged)).toEqual(nothing);

  const changed = await filled();
  const database = pinStatements(join(changed, dailyCountsFile), {});
  database.exec('CREATE TRIGGER planted BEFORE INSERT ON counts BEGIN SELECT RAISE(IGNORE); END');
  database.close();
  expect(await counted(changed)).toEqual(nothing);
  const counts = sqliteDailyCounts(changed, 'a log');
  expect(await counts.add(step)).toBe(true);
  expect(await counts.days('one', 'tokens', 0, 99_999)).toEqual([count]);
  counts.close();
});

test('the file contains no token id, container, metadata or data', async () => {
  const service = await startTestService();
  onTestFinished(service.close);
  const planted = { id: 'planted-id', data: 'planted-data', container: 'planted-container', metadata: 'planted-note' };
  const fields = { id: planted.id, data: planted.data, metadata: { note: planted.metadata } };
  const { id } = await createPlain(service, { ...fields, containers: [`/${planted.container}/`] });
  await service.call('GET', path(id));
  await service.vault.recorder.now([]);
  await countDays(service.vault, { restShare: 0, stopped: new AbortController().signal });
  const files = filesOf(service.dataDir).filter(({ name }) => name.startsWith(dailyCountsFile));
  expect(findTexts(files, { tenant: service.tenantId }), 'the search finds what is there').not.toEqual([]);
  expect(findTexts(files, planted)).toEqual([]);
});
