import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { manualClock } from '../../support/manual-clock.js';
import { tempDir } from '../../support/process.js';
import { startTestService } from '../../support/test-service.js';

/** Schema changes that a program with write access to the files could make. */
const plants: readonly (readonly [what: string, file: string, sql: string])[] = [
  [
    'a trigger that ignores deletions',
    'vault.db',
    'CREATE TRIGGER t BEFORE DELETE ON token_rows_1 BEGIN SELECT RAISE(IGNORE); END',
  ],
  [
    'a trigger that ignores events',
    'vault.db',
    'CREATE TRIGGER t BEFORE INSERT ON events BEGIN SELECT RAISE(IGNORE); END',
  ],
  [
    'a trigger that keeps keys',
    'keys.db',
    'CREATE TRIGGER t BEFORE UPDATE ON data_keys BEGIN SELECT RAISE(IGNORE); END',
  ],
  [
    'a view in place of a table',
    'vault.db',
    'ALTER TABLE claims RENAME TO hidden; CREATE VIEW claims AS SELECT * FROM hidden',
  ],
  ['a foreign index', 'vault.db', 'CREATE INDEX i ON token_rows_1 (stream) WHERE tenant = 0'],
  ['a missing index', 'vault.db', 'DROP INDEX claims_time'],
  ['a missing trigger that protects entries', 'access', 'DROP TRIGGER entries_are_never_changed'],
];

function plant(dataDir: string, file: string, sql: string): void {
  const name = file === 'access' ? readdirSync(dataDir).find((one) => /^access-.*\.db$/.test(one)) : file;
  const database = pinStatements(join(dataDir, String(name)), {});
  database.exec(sql);
  database.close();
}

test.each(plants)('%s is detected at startup', async (_what, file, sql) => {
  const dataDir = join(tempDir(), 'data');
  const clock = manualClock();
  const service = await startTestService({ dataDir, clock });
  const { rootKey } = service;
  expect((await service.call('POST', '/tokens', { type: 'token', data: 'x' })).status).toBe(201);
  await service.stop();
  plant(dataDir, file, sql);
  const start = async (): Promise<void> => {
    const again = await startTestService({ dataDir, clock, rootKey });
    onTestFinished(() => again.stop());
    // The vault does not open a month's file until a request reads that month.
    await again.vault.accessLog.heads(0);
  };
  await expect(start()).rejects.toThrow(
    file === 'access'
      ? /changed_by_another_program/
      : /was changed by another program: ".*" is not as Strongroom created it/,
  );
});

test.each(plants.filter(([, file]) => file !== 'access'))(
  '%s prevents all further writes of a running vault',
  async (_what, file, sql) => {
    const service = await startTestService();
    onTestFinished(() => service.close());
    const create = () => service.call('POST', '/tokens', { type: 'token', data: 'x' });
    const { body } = await create();
    plant(service.dataDir, file, sql);
    expect((await service.call('DELETE', `/tokens/${String(body['id'])}`)).status).toBe(503);
    expect((await create()).status).toBe(503);
    expect(service.errors.map(String).join()).toMatch(/was changed by another program: ".*" is not as/);
  },
);
