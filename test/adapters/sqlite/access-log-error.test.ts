import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { accessLogError } from '#src/adapters/sqlite/access-log/access-log-error.js';
import { openDatabase } from '#src/adapters/sqlite/database/open-database.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';

const month = 'access-2026-01.db';

test.each([
  ['a full disk', new StoreUnavailable(month, 'full'), 'full'],
  ['a lack of file descriptors', new StoreUnavailable(month, 'no_file_descriptors'), 'no_file_descriptors'],
])('%s while a month file is opened is reported as a failure of the access log', (_name, error, reason) => {
  expect(accessLogError(error)).toMatchObject({ name: 'StoreUnavailable', store: 'access log', reason });
});

test('a month file that cannot be opened is reported as a failure of the access log', () => {
  const directory = mkdtempSync(join(tmpdir(), 'strongroom-access-log-error-'));
  mkdirSync(join(directory, month));
  const open = () => {
    try {
      openDatabase(join(directory, month), month, 'reader');
    } catch (error) {
      return accessLogError(error);
    }
    throw new Error('a directory was opened as a database');
  };
  expect(open()).toMatchObject({ name: 'StoreUnavailable', store: 'access log', reason: 'broken' });
  rmSync(directory, { recursive: true });
});
