import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { openSqliteStores } from '#src/adapters/sqlite/open-stores.js';
import { authenticStores } from '#src/audit/authentic-log.js';
import { rotateKeys } from '#src/jobs/rotate-keys.js';
import { anEvent, aStream } from '../../contract/support.js';
import { manualClock } from '../../support/manual-clock.js';

test('a rotation begun by an older version, whose mark has no time, continues and declares no copy void', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'strongroom-rotation-mark-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const [rootKey, next, tenantId] = [randomBytes(32), randomBytes(32), randomUUID()];
  const open = () =>
    openSqliteStores(dataDir, Buffer.from(rootKey), manualClock(), (error) => {
      throw error;
    }).then(authenticStores);
  const first = await open();
  // Without a log the store would rightly think it lost.
  await first.log.append(aStream(), -1, [anEvent()]);
  await first.keys.createTenant(tenantId);
  const { id, key } = await first.keys.create(tenantId);
  const expected = key.toString('hex');
  await first.keys.rotation.begin();
  await first.close();
  const database = pinStatements(join(dataDir, 'keys.db'), { timeout: 5_000 });
  const { changes } = database.prepare(`UPDATE meta SET value = substr(value, 1, 8) WHERE name = 'rotation'`).run();
  database.close();
  expect(changes).toBe(1);

  const { keys, close } = await open();
  expect(await rotateKeys(keys.rotation, next)).toBe(true);
  expect(await keys.rotation.voidBefore()).toBeNull();
  expect(await keys.use(tenantId, id, (opened) => opened.toString('hex'))).toEqual({
    state: 'open',
    value: expected,
    revision: null,
  });
  expect(await rotateKeys(keys.rotation, randomBytes(32))).toBe(true);
  expect(await keys.rotation.voidBefore()).not.toBeNull();
  await close();
});
