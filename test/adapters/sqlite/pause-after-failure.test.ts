import { randomBytes, randomUUID } from 'node:crypto';
import { closeSync, copyFileSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openMonthWriter } from '#src/adapters/sqlite/access-log/month-writer.js';
import { pauseAfterFailure } from '#src/adapters/sqlite/access-log/pause-after-failure.js';
import { sqliteAccessLog } from '#src/adapters/sqlite/access-log.js';
import { prepareFile } from '#src/adapters/sqlite/database/prepare-file.js';
import { createJournal } from '#src/adapters/sqlite/journal/journal.js';
import { journalSchema, journalSchemaVersion } from '#src/adapters/sqlite/journal/journal-schema.js';
import { createAccessJournal } from '#src/adapters/sqlite/writer/access-journal.js';
import { startWriter } from '#src/adapters/sqlite/writer/writer.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { everything } from '../../contract/access-log.js';
import { tempDir } from '../../support/process.js';

const month = '2026-01';

let nowMs: number;
beforeEach(() => {
  nowMs = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
});
afterEach(() => void vi.restoreAllMocks());

/** Creates a data directory with a damaged month's file. `repair` writes the intact content into the same file. */
function damagedMonth() {
  const dataDir = tempDir();
  openMonthWriter(dataDir, month).close();
  const path = join(dataDir, `access-${month}.db`);
  const intact = join(tempDir(), 'intact');
  copyFileSync(path, intact);
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(100, 1));
  closeSync(file);
  return { dataDir, path, intact, repair: () => copyFileSync(intact, path) };
}

test('the pauses double with each failure up to a minute, and start again after a success', () => {
  let runs = 0;
  let isBroken = true;
  let begun = 0;
  const attempt = pauseAfterFailure(() => {
    begun += 1;
  });
  const use = () =>
    attempt(() => {
      runs += 1;
      if (isBroken) throw new StoreUnavailable('access log', 'broken');
    });
  /** Returns how long the function does not run the work, in seconds. */
  const pauseS = (): number => {
    const before = runs;
    for (let waitedS = 0; ; waitedS += 1) {
      expect(use).toThrow('access log: broken');
      if (runs > before) return waitedS;
      nowMs += 1_000;
    }
  };
  expect(pauseS()).toBe(0);
  expect([pauseS(), pauseS(), pauseS(), pauseS(), pauseS(), pauseS(), pauseS(), pauseS()]).toEqual([
    1, 2, 4, 8, 16, 32, 60, 60,
  ]);
  expect(begun).toBe(runs);
  isBroken = false;
  nowMs += 60_000;
  use();
  isBroken = true;
  expect([pauseS(), pauseS()]).toEqual([0, 1]);
});

test('there is no pause after a temporary failure', () => {
  let runs = 0;
  const attempt = pauseAfterFailure(() => expect.unreachable('a pause began'));
  for (let time = 0; time < 3; time += 1) {
    expect(() =>
      attempt(() => {
        runs += 1;
        throw new StoreUnavailable('access-2026-01.db', 'full');
      }),
    ).toThrow('access log: full');
  }
  expect(runs).toBe(3);
});

test('queries open a damaged month’s file again only after a pause, or if another file is in its place', async () => {
  const { dataDir, path, intact, repair } = damagedMonth();
  const writer = await startWriter(dataDir, {
    onBroken(error) {
      throw error;
    },
  });
  const accessLog = sqliteAccessLog(dataDir, writer);
  const query = () => accessLog.query(randomUUID(), everything, { offset: 0, limit: 10 });
  const damaged = { store: 'access log', found: { says: `access-${month}.db is damaged` } };
  await expect(query()).rejects.toMatchObject(damaged);
  repair();
  await expect(query()).rejects.toMatchObject(damaged);
  nowMs += 1_000;
  expect(await query()).toEqual({ total: 0, entries: [] });

  const other = damagedMonth();
  renameSync(other.path, path);
  await expect(query()).rejects.toMatchObject(damaged);
  copyFileSync(intact, other.path);
  renameSync(other.path, path);
  expect(await query()).toEqual({ total: 0, entries: [] });
  accessLog.close();
  await writer.close();
});

test('access records open a damaged month’s file again only after a pause', () => {
  const { dataDir, repair } = damagedMonth();
  const file = prepareFile(join(dataDir, 'journal.db'), 'journal.db', journalSchema, journalSchemaVersion);
  const journal = createJournal(file, { sequence: 0, hash: randomBytes(32) });
  const background = { send: () => undefined };
  const never = () => expect.unreachable('nothing is moved');
  const access = createAccessJournal({ dataDir, journal, background, reply: never, onMoved: never });
  const input = { month: '2026-02', lines: '[]', entries: 1, isLast: false };
  const record = () => access.group([{ id: 1, operation: 'record_access', input }]).recorded[0]?.error;
  const damaged = { store: 'access log', found: { says: `access-${month}.db is damaged` } };
  expect(record()).toMatchObject(damaged);
  // The journal is new, as after a restore, so only the month files know the end of the chain.
  const last = { month: '2026-02', lines: '[]', entries: 1, isLast: true };
  const atTheStop = access.group([{ id: 2, operation: 'record_access', input: last }]);
  expect(atTheStop.recorded[0]?.error).toMatchObject(damaged);
  expect(atTheStop.batches).toEqual([]);
  repair();
  expect(record()).toMatchObject(damaged);
  nowMs += 1_000;
  expect(record()).toBeNull();
  access.stop();
  file.close();
});
