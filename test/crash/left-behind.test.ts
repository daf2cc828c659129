import { randomBytes } from 'node:crypto';
import { appendFileSync, copyFileSync, existsSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { http, makeVault, startService, tempDir } from '../support/process.js';
import { bytesLeft, livingKeys, lookInto } from './stores.js';

const body = (id: string, data: unknown = 'value') => ({ id, type: 'token', data });

test('a key store from before deletions is shredded again before the service is ready', async () => {
  const vault = await makeVault();
  const { key, flags, dataDir } = vault;
  const first = await startService(flags);
  const url = `${first.address}/tokens`;
  for (const id of ['kept', 'deleted', 'replaced']) {
    expect(await http('POST', url, { key, body: body(id) })).toMatchObject({ status: 201 });
  }
  await first.stop();
  const older = join(tempDir(), 'keys.db');
  copyFileSync(join(dataDir, 'keys.db'), older);
  const before = livingKeys(dataDir);

  const second = await startService(flags);
  const again = `${second.address}/tokens`;
  expect(await http('DELETE', `${again}/deleted`, { key })).toMatchObject({ status: 204 });
  // Made under a key that the older copy has, too: keys come in blocks, but a stopped service destroys those it did not use.
  await second.stop();
  const after = livingKeys(dataDir);
  const destroyed = [...before].filter(([id]) => !after.has(id)).map(([, wrapped]) => wrapped);
  expect(destroyed).toHaveLength(1);

  copyFileSync(older, join(dataDir, 'keys.db'));
  expect(bytesLeft(dataDir, destroyed)).toBe(1);
  const third = await startService(flags);
  expect(bytesLeft(dataDir, destroyed), 'the key of the deleted token in the files of a ready service').toBe(0);
  expect(await http('GET', `${third.address}/tokens/deleted`, { key })).toMatchObject({ status: 404 });
  expect(await http('GET', `${third.address}/tokens/kept`, { key })).toMatchObject({ status: 200 });
  expect(await http('GET', `${third.address}/health/ready`)).toMatchObject({ status: 200 });
});

describe('a torn end of the write-ahead log', () => {
  const tails: readonly (readonly [string, (wal: Buffer) => Buffer])[] = [
    ['noise', () => randomBytes(5_000)],
    ['zeros', () => Buffer.alloc(9_000)],
    ['a whole frame of the log once more', (wal) => wal.subarray(32, 32 + 24 + 4_096)],
    ['half a frame', (wal) => wal.subarray(32, 32 + 2_000)],
    ['the last frame with another byte in it', (wal) => Buffer.concat([wal.subarray(-4_120, -1), Buffer.from([7])])],
  ];

  test.each(tails)('%s behind it: nothing that was acknowledged is lost', async (_what, tailOf) => {
    const { key, flags, dataDir, rootKeyFile, tenantId } = await makeVault();
    const first = await startService(flags);
    const ids = Array.from({ length: 12 }, (_, index) => `torn-${index}`);
    const created = await Promise.all(
      ids.map((id) => http('POST', `${first.address}/tokens`, { key, body: body(id) })),
    );
    expect(created.map(({ status }) => status)).toEqual(ids.map(() => 201));
    await first.stop('SIGKILL');
    let torn = 0;
    for (const file of ['vault.db-wal', 'keys.db-wal'].map((name) => join(dataDir, name))) {
      if (!existsSync(file) || statSync(file).size === 0) continue;
      appendFileSync(file, tailOf(readFileSync(file)));
      torn += 1;
    }
    expect(torn, 'logs that the kill left').toBeGreaterThan(0);

    const second = await startService(flags);
    for (const { body: acknowledged, headers } of created) {
      const read = await http('GET', `${second.address}/tokens/${acknowledged['id']}`, { key });
      expect(read).toMatchObject({ status: 200, body: acknowledged, headers: { etag: headers.etag } });
    }
    expect(await http('POST', `${second.address}/tokens`, { key, body: body('after') })).toMatchObject({ status: 201 });
    expect(await second.stop()).toMatchObject({ code: 0, stderr: '' });
    expect(lookInto(dataDir, rootKeyFile, tenantId).isDamaged).toBe(false);
  });

  test('a commit cut off in the middle is gone as a whole, and what came before it is there', async () => {
    const { key, flags, dataDir } = await makeVault();
    const first = await startService(flags);
    const url = `${first.address}/tokens`;
    expect(await http('POST', url, { key, body: body('early') })).toMatchObject({ status: 201 });
    const wal = join(dataDir, 'vault.db-wal');
    const sizeBefore = statSync(wal).size;
    const big = body(
      'late',
      Array.from({ length: 3_000 }, (_, index) => `part ${index}`),
    );
    expect(await http('POST', url, { key, body: big })).toMatchObject({ status: 201 });
    await first.stop('SIGKILL');
    // As if the machine had died while it wrote the second one: then nobody had got an answer.
    truncateSync(wal, sizeBefore + 24 + 4_096 + 100);

    const second = await startService(flags);
    expect(await http('GET', `${second.address}/tokens/early`, { key })).toMatchObject({ status: 200 });
    expect(await http('GET', `${second.address}/tokens/late`, { key })).toMatchObject({ status: 404 });
    expect(await http('POST', `${second.address}/tokens`, { key, body: big })).toMatchObject({ status: 201 });
  });
});
