import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sqliteClaims } from '#src/adapters/sqlite/claims.js';
import { openDatabase } from '#src/adapters/sqlite/database/open-database.js';
import { packChange } from '#src/adapters/sqlite/writer/packed-change.js';
import { startWriter, type Writer } from '#src/adapters/sqlite/writer/writer.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';

test('a claim whose transaction could not begin does not stay in flight forever', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'strongroom-claims-'));
  const writer = await startWriter(dataDir, { onBroken: (error) => expect.unreachable(String(error)) });
  const claim = { cmd: 'old', result: { tokens: [] }, time: 1, mac: Buffer.alloc(32) };
  await writer.request('commit', packChange({ writes: [], claim }));
  let isFull = true;
  const sometimesFull: Writer = {
    ...writer,
    request: (operation, input) =>
      isFull ? Promise.reject(new StoreUnavailable('vault.db', 'full')) : writer.request(operation, input),
  };
  const reader = openDatabase(join(dataDir, 'vault.db'), 'vault.db', 'reader');
  const claims = sqliteClaims(reader, sometimesFull);
  await expect(claims.begin('old', 2)).rejects.toBeInstanceOf(StoreUnavailable);
  isFull = false;
  expect(await claims.begin('old', 2)).toEqual({ state: 'fresh' });
  reader.close();
  await writer.close();
  await rm(dataDir, { recursive: true });
});
