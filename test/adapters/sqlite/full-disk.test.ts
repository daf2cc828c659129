import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from '#src/adapters/sqlite/database/open-database.js';
import { truncating } from '#src/adapters/sqlite/writer/erasure.js';
import { tokenPermissions } from '#src/domain/access/permission.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { expectNowhere } from '../../erasure/files.js';
import { aCard, create, wrappedKeysOf } from '../../erasure/support.js';
import { until } from '../../support/process.js';
import { type Answer, startTestService, type TestService } from '../../support/test-service.js';

const disk = mkdtempSync(join(tmpdir(), 'strongroom-disk-'));
/**
 * True if the test was able to mount a small disk, which requires root. Without root, only `group-commit.test.ts`
 * covers a full disk.
 */
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', disk]).status === 0;

afterAll(() => {
  if (mounted) execFileSync('umount', ['--lazy', disk]);
  rmSync(disk, { recursive: true });
});

describe.skipIf(!mounted)('on a full disk (needs permission to mount a small disk)', () => {
  let service: TestService;
  let stored: string[] = [];
  /**
   * An application that sees only masked data. It can still read tokens on a full disk, because only a read in
   * plaintext must be recorded before the response.
   */
  let masked: { readonly key: string };
  const unexpected = () => service.errors.filter((error) => !isOfAccessLog(error));
  const filler = join(disk, 'filler');
  const value = () => ({ type: 'token', data: randomBytes(20_000).toString('hex') });
  const free = () => Number(statfsSync(disk).bavail) * Number(statfsSync(disk).bsize);

  beforeAll(async () => {
    service = await startTestService({ dataDir: join(disk, 'data') });
    masked = { key: await service.application(tokenPermissions) };
    stored = await Promise.all(Array.from({ length: 5 }, () => create(service, value())));
    stored.push(await create(service, aCard()));
    writeFileSync(filler, Buffer.alloc(free() - 300_000));
  });
  afterAll(() => service.close());

  test('a write without free space returns 503, stores nothing, and leaves stored data intact', async () => {
    const before = await service.eventCount();
    let created = 0;
    let refused = 0;
    for (let count = 0; count < 30; count += 1) {
      const answers = await Promise.all(
        [0, 1, 2].map((n) => service.call('POST', '/tokens', { id: `t-${count}-${n}`, ...value() }, masked)),
      );
      for (const [n, { status, body }] of answers.entries()) {
        const read = await service.call('GET', `/tokens/t-${count}-${n}`, undefined, masked);
        if (status === 201) {
          created += 1;
          expect(read.status).toBe(200);
        } else {
          refused += 1;
          expect([status, body['code'], read.status]).toEqual([503, 'store_unavailable', 404]);
        }
      }
    }
    expect(refused).toBeGreaterThan(10);
    expect(await service.eventCount()).toBe(before + created);
    for (const id of stored) {
      expect((await service.call('GET', `/tokens/${id}`, undefined, masked)).status).toBe(200);
      expect([200, 503]).toContain((await service.call('GET', `/tokens/${id}`)).status);
    }
    expect(unexpected(), 'the writer must outlive it').toEqual([]);
  });

  test('a DELETE either succeeds and destroys the keys, or returns 503', async () => {
    const id = String(stored.at(-1));
    const { content } = await wrappedKeysOf(service, id);
    const { status, body } = await service.call('DELETE', `/tokens/${id}`);
    if (status === 204) expectNowhere(service.dataDir, content);
    else expect([status, body['code']]).toEqual([503, 'store_unavailable']);
    expect(unexpected()).toEqual([]);
  });

  test('a write-ahead log that could not be checkpointed for lack of space is emptied later', () => {
    rmSync(filler);
    const database = openDatabase(join(disk, 'other.db'), 'other.db', 'writer');
    database.exec('CREATE TABLE t (a BLOB)');
    expect(truncating(database, 'other.db')).toBeNull();
    database.prepare('INSERT INTO t VALUES (zeroblob(1000000))').run();
    const fill = spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=4096']);
    expect(fill.status, 'dd goes on until the disk is full').not.toBe(0);
    expect(truncating(database, 'other.db')).toMatchObject({ reason: 'full' });
    rmSync(filler);
    expect(truncating(database, 'other.db')).toBeNull();
    database.close();
    rmSync(join(disk, 'other.db'));
  });

  test('everything works again once there is space', async () => {
    // A step of the background work that failed on the full disk may have to be retried first.
    let last: Answer | null = null;
    const revealed = await until('a revealed token', 30_000, async () => {
      last = await service.call('POST', '/tokens', aCard());
      if (last.status === 201) last = await service.call('GET', `/tokens/${last.body['id']}`);
      return last.status === 200 ? last : undefined;
    }).catch(() => last);
    expect(revealed, service.errors.map(String).join('\n')).toMatchObject({ status: 200 });
    const id = String(revealed?.body['id']);
    const { content, cvc } = await wrappedKeysOf(service, id);
    expect((await service.call('DELETE', `/tokens/${id}`)).status).toBe(204);
    expectNowhere(service.dataDir, [...content, ...cvc]);
    expect([204, 404]).toContain((await service.call('DELETE', `/tokens/${stored.at(-1)}`)).status);
    const { dataDir, rootKey, key } = service;
    await service.stop();
    service = await startTestService({ dataDir, rootKey });
    for (const one of stored.slice(0, -1))
      expect((await service.call('GET', `/tokens/${one}`, undefined, { key })).status).toBe(200);
  });
});

function isOfAccessLog(error: unknown): boolean {
  return error instanceof StoreUnavailable && error.store === 'access log';
}
