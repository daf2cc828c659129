import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { http, makeVault, run, startService, tempDir } from '../support/process.js';
import { chance, createModel } from './model.js';
import { bytesLeft, livingKeys, lookInto } from './stores.js';
import { canTrace, filesIn, putFiles, tracedDisk, tracing } from './traced-disk.js';

const rounds = Number(process.env['STRONGROOM_POWER_ROUNDS'] ?? 3);
const seed = Number(process.env['STRONGROOM_CRASH_SEED'] ?? randomInt(2 ** 31));
const callers = 8;

/**
 * Simulates power failures under load: kills the process, and replaces its files by what a disk would contain that
 * stored only what was synced, and random pages of the rest. Every acknowledged change and every access record must be
 * there. Keys of deleted tokens must be gone. The test needs strace, which records the writes.
 */
test.skipIf(!canTrace)(
  `${rounds} power failures under load lose nothing that was acknowledged (seed ${seed})`,
  {
    timeout: 600_000,
  },
  async () => {
    const random = chance(seed);
    const vault = await makeVault();
    const { dataDir, flags } = vault;
    const model = createModel(vault.key, random);
    const env = { STRONGROOM_RATE_LIMIT_REQUESTS: '0' };
    /** The wrapped bytes of keys, keyed by key id. They are read from the file while the keys still exist. */
    const seen = new Map<string, Buffer>();
    let unsynced = 0;

    for (let round = 1; round <= rounds; round += 1) {
      const at = `round ${round}, STRONGROOM_CRASH_SEED=${seed}`;
      const before = filesIn(dataDir);
      const record = join(tempDir(), 'record');
      const service = await startService(flags, { env, through: tracing(record) });
      const load = Promise.all(Array.from({ length: callers }, () => model.caller(service.address)));
      const halfMs = 100 + random.below(700);
      await Promise.race([load, wait(halfMs)]);
      for (const [id, wrapped] of livingKeys(dataDir)) seen.set(id, wrapped);
      await Promise.race([load, wait(halfMs)]);
      await service.stop('SIGKILL');
      await load;

      const disk = tracedDisk(record, dataDir, before);
      const left = filesIn(dataDir);
      for (const [name, bytes] of disk.all()) {
        expect(left.get(name)?.equals(bytes), `${name} is what the record says; ${at}`).toBe(true);
      }
      const erased = lookInto(dataDir, vault.rootKeyFile, vault.tenantId).endedKeysOf(model.deleted());
      const failed = disk.afterFailure(random, round % 3 === 0 ? 0 : random.next());
      for (const [name, bytes] of failed) if (left.get(name)?.equals(bytes) !== true) unsynced += 1;
      putFiles(dataDir, failed);

      const { reveals } = lookInto(dataDir, vault.rootKeyFile, vault.tenantId);
      expect(reveals, `records of values that left the service; ${at}`).toBeGreaterThanOrEqual(model.shownTimes());
      const shouldBeGone = erased.flatMap((id) => seen.get(id) ?? []);
      expect(bytesLeft(dataDir, shouldBeGone), `bytes of keys of answered deletes; ${at}`).toBe(0);
      const again = await startService(flags, { env });
      expect(await http('GET', `${again.address}/health/ready`), at).toMatchObject({ status: 200 });
      expect(await model.check(again.address), at).toEqual([]);
      expect(await again.stop(), at).toMatchObject({ code: 0, stderr: '' });
      expect(await run(['audit', 'verify', ...flags]), at).toMatchObject({ code: 0 });
    }
    expect(unsynced, 'files that differ from those that the process left').toBeGreaterThan(0);
    console.log(
      `${rounds} power failures, ${model.total()} changes and reveals acknowledged, ${unsynced} files differed`,
    );
  },
);

test.skipIf(!canTrace)('after a power failure directly after a delete, no file contains the key', async () => {
  const { dataDir, flags, key } = await makeVault();
  const before = filesIn(dataDir);
  const record = join(tempDir(), 'record');
  const service = await startService(flags, { through: tracing(record) });
  const body = { id: 'one', type: 'token', data: 'a secret' };
  expect((await http('POST', `${service.address}/tokens`, { key, body })).status).toBe(201);
  const wrapped = [...livingKeys(dataDir).values()];
  expect((await http('DELETE', `${service.address}/tokens/one`, { key })).status).toBe(204);
  await service.stop('SIGKILL');
  expect([...livingKeys(dataDir)].length).toBeLessThan(wrapped.length);
  const living = new Set([...livingKeys(dataDir).values()].map((bytes) => bytes.toString('hex')));
  putFiles(dataDir, tracedDisk(record, dataDir, before).afterFailure(chance(seed), 0));
  const destroyed = wrapped.filter((bytes) => !living.has(bytes.toString('hex')));
  expect(bytesLeft(dataDir, destroyed)).toBe(0);
});
