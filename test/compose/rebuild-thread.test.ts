import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startRebuildThread } from '#src/compose/rebuild/start-rebuild-thread.js';
import { makeVault, tempDir } from '../support/process.js';

test('a rebuild thread that cannot start says why', async () => {
  const { dataDir } = await makeVault();
  const wrongKey = startRebuildThread({ dataDir, rootKey: randomBytes(32) });
  await expect(wrongKey.directory()).rejects.toThrow(/this root key does not open keys\.db/);
  await expect(wrongKey.directory(), 'a later call').rejects.toThrow(/this root key does not open keys\.db/);
  const nowhere = startRebuildThread({ dataDir: join(tempDir(), 'nowhere'), rootKey: randomBytes(32) });
  await expect(nowhere.directory()).rejects.toThrow('the rebuild thread failed: TypeError');
});

test('a rebuild thread that finds a damaged file names the problem, so that the service stops being ready', async () => {
  const { dataDir, rootKeyFile } = await makeVault();
  const file = join(dataDir, 'vault.db');
  const database = new Database(file);
  const page = Number(database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'events'").pluck().get());
  const pageBytes = Number(database.pragma('page_size', { simple: true }));
  database.close();
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, Buffer.alloc(pageBytes, 0xff), 0, pageBytes, (page - 1) * pageBytes);
  closeSync(descriptor);
  const rootKey = Buffer.from(readFileSync(rootKeyFile, 'utf8').trim(), 'hex');
  const thread = startRebuildThread({ dataDir, rootKey });
  onTestFinished(() => thread.close());
  const check = 'files';
  await expect(thread.directory()).rejects.toMatchObject({ found: { check, says: 'vault.db is damaged' } });
});

test('a rebuild thread that cannot start leaves no root key in the memory that it shares with the service', async () => {
  const { dataDir } = await makeVault();
  const shared: Uint8Array[] = [];
  class HeldMemory extends SharedArrayBuffer {
    constructor(byteLength: number) {
      super(byteLength);
      shared.push(new Uint8Array(this));
    }
  }
  vi.stubGlobal('SharedArrayBuffer', HeldMemory);
  onTestFinished(() => void vi.unstubAllGlobals());
  for (const place of [dataDir, join(tempDir(), 'nowhere')]) {
    await expect(startRebuildThread({ dataDir: place, rootKey: randomBytes(32) }).directory()).rejects.toThrow();
  }
  expect(shared).toEqual([new Uint8Array(32), new Uint8Array(32)]);
});
