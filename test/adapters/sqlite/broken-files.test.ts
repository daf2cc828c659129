import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { copyOf, create, tamper } from '../../erasure/support.js';
import { startTestService, type TestService } from '../../support/test-service.js';

let service: TestService;
let whole: string;
let ids: string[];
beforeEach(async () => {
  service = await startTestService();
  ids = await Promise.all(Array.from({ length: 60 }, () => create(service, { type: 'token', data: 'x'.repeat(500) })));
  await service.stop();
  whole = await copyOf(service.dataDir);
});
afterEach(async () => {
  for (const folder of [service.dataDir, whole]) await rm(folder, { recursive: true, force: true });
});

function overwrite(file: string, at: number, bytes: Buffer): void {
  const handle = openSync(join(service.dataDir, file), 'r+');
  writeSync(handle, bytes, 0, bytes.length, at);
  closeSync(handle);
}

const path = (file: string) => join(service.dataDir, file);
const storeFiles = () =>
  Object.fromEntries(
    readdirSync(service.dataDir)
      .filter((name) => name !== 'lock' && statSync(path(name)).size > 0)
      .map((name) => [
        name,
        createHash('sha256')
          .update(readFileSync(path(name)))
          .digest('hex'),
      ]),
  );

async function expectRefused(message: RegExp, options: { readonly rootKey?: Buffer } = {}): Promise<void> {
  const before = storeFiles();
  const start = startTestService({ dataDir: service.dataDir, rootKey: options.rootKey ?? service.rootKey });
  const error = await start.then(
    async (started) => {
      await started.stop();
      return new Error('it started');
    },
    (reason: unknown) => reason as Error,
  );
  expect([error.name, error.message]).toEqual(['StoreBroken', expect.stringMatching(message)]);
  expect(error.message).not.toMatch(/SQLITE|sqlite|malformed/);
  expect(Object.keys(storeFiles()).filter((name) => !/-(wal|shm)$/.test(name))).toEqual(
    Object.keys(before).filter((name) => !/-(wal|shm)$/.test(name)),
  );
  expect(storeFiles()).toMatchObject(before);
}

/** Restores the files, and checks that everything works again. */
async function expectMended(): Promise<void> {
  for (const name of readdirSync(service.dataDir)) rmSync(path(name));
  for (const file of ['vault.db', 'keys.db']) execFileSync('cp', [join(whole, file), path(file)]);
  const { key, dataDir, rootKey } = service;
  const again = await startTestService({ dataDir, rootKey });
  for (const id of ids.slice(0, 3))
    expect((await again.call('GET', `/tokens/${id}`, undefined, { key })).status).toBe(200);
  await again.stop();
}

describe.each(['vault.db', 'keys.db'])('%s', (file) => {
  test('with a damaged first page is rejected', async () => {
    overwrite(file, 0, randomBytes(200));
    await expectRefused(new RegExp(`^${file} is damaged.*backup`));
    await expectMended();
  });

  test('with a damaged page in the middle is rejected', async () => {
    const pages = statSync(path(file)).size / 4096;
    expect(pages).toBeGreaterThan(6);
    overwrite(file, Math.floor(pages / 2) * 4096, randomBytes(4096));
    await expectRefused(new RegExp(`^${file} is damaged.*backup`));
    await expectMended();
  });

  test('truncated in the middle is rejected', async () => {
    truncateSync(path(file), Math.floor(statSync(path(file)).size / 8192) * 4096);
    await expectRefused(new RegExp(`^${file} is damaged.*backup`));
  });

  test('that contains text is rejected', async () => {
    writeFileSync(path(file), 'not a database '.repeat(1_000));
    await expectRefused(new RegExp(`^${file} is damaged.*backup`));
  });

  test('that is missing is reported', async () => {
    rmSync(path(file));
    await expectRefused(new RegExp(`^${file} is missing or empty.*backup`));
    await expectMended();
  });

  test('that is empty is rejected', async () => {
    writeFileSync(path(file), '');
    await expectRefused(new RegExp(`^${file} is missing or empty.*backup`));
    expect(statSync(path(file)).size).toBe(0);
    await expectMended();
  });

  test('from a newer version is rejected', async () => {
    const database = pinStatements(path(file), {});
    database.pragma('user_version = 1000');
    database.close();
    await expectRefused(new RegExp(`^${file} was written by a newer version`));
  });

  test('from another program is rejected', async () => {
    rmSync(path(file));
    const database = pinStatements(path(file), {});
    database.exec('CREATE TABLE recipes (name TEXT)');
    database.close();
    await expectRefused(new RegExp(`^${file} is not a Strongroom file`));
  });

  test('from another vault with the same root key is rejected', async () => {
    const other = await startTestService({ rootKey: service.rootKey });
    await other.stop();
    execFileSync('cp', [join(other.dataDir, file), path(file)]);
    await expectRefused(/^vault\.db and keys\.db do not belong together.*backups/);
    await rm(other.dataDir, { recursive: true });
    await expectMended();
  });
});

test('a wrong root key is rejected', async () => {
  await expectRefused(/^this root key does not open/, { rootKey: randomBytes(32) });
  await expectMended();
});

test('a data directory that is in use is rejected, without disturbing the process that uses it', async () => {
  const { dataDir, rootKey, key } = service;
  const first = await startTestService({ dataDir, rootKey });
  for (let count = 0; count < 3; count += 1) {
    await expect(startTestService({ dataDir, rootKey })).rejects.toThrow(/^another Strongroom process uses/);
  }
  expect((await first.call('DELETE', `/tokens/${ids[0]}`, undefined, { key })).status).toBe(204);
  await create(first, { type: 'token', data: 'x' });
  await first.stop();
  const second = await startTestService({ dataDir, rootKey });
  expect((await second.call('GET', `/tokens/${ids[0]}`, undefined, { key })).status).toBe(404);
  await second.stop();
});

test('a lock file that is not a database is rejected', async () => {
  writeFileSync(path('lock'), 'not a database '.repeat(1_000));
  await expectRefused(/lock/);
});

describe('wrapping keys', () => {
  const wrappingKeys = () => {
    const database = pinStatements(path('keys.db'), { readonly: true });
    const rows = database
      .prepare(`SELECT id FROM tenant_keys WHERE tenant = ? AND purpose = 'wrapping'`)
      .all(service.tenantId);
    database.close();
    return rows.length;
  };

  test.each([
    { clock: 'going on', ms: 1_000 },
    { clock: 'set back by a day', ms: -24 * 3_600_000 },
  ])(
    'are replaced exactly once after 2^30 uses, and data keys wrapped under the old ones can still be unwrapped; clock $clock',
    async ({ ms }) => {
      expect(tamper(service.dataDir, 'keys.db', 'UPDATE wraps SET count = ?', 2 ** 30 - 3)).toBeGreaterThan(0);
      expect(wrappingKeys()).toBe(1);
      const { dataDir, rootKey, key } = service;
      const again = await startTestService({ dataDir, rootKey });
      again.clock.advance(ms);
      const made: string[] = [];
      for (let count = 0; count < 40; count += 1) {
        const created = await again.call('POST', '/tokens', { type: 'token', data: `new ${count}` }, { key });
        expect(created.status, created.text).toBe(201);
        made.push(String(created.body['id']));
      }
      await again.stop();
      expect(wrappingKeys()).toBe(2);
      const third = await startTestService({ dataDir, rootKey });
      for (const id of [...ids, ...made]) {
        expect((await third.call('GET', `/tokens/${id}`, undefined, { key })).status).toBe(200);
      }
      await third.stop();
    },
  );
});

test('keys that were created in advance but never used are destroyed when the service stops', () => {
  const keys = pinStatements(path('keys.db'), { readonly: true });
  const living = keys
    .prepare(`SELECT count(*) FROM data_keys WHERE wrapped <> zeroblob(length(wrapped))`)
    .pluck()
    .get();
  keys.close();
  expect(living).toBe(ids.length);
});
