import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openEmbedded } from '#src/compose/embedded/embedded.js';
import { rotateKeys } from '#src/jobs/rotate-keys.js';
import type { EventLog } from '#src/ports/event-log.js';
import { fill, rootKeyIn, unread } from '../rotation/support.js';
import { http, makeVault, runJson, startService, type TestVault, tempDir } from '../support/process.js';
import { startTestService } from '../support/test-service.js';
import { generous, rebuildIn, storedIn } from './support.js';

const env = { STRONGROOM_RATE_LIMIT_REQUESTS: '0' };
const tokens = 1_500;

/** Returns the total number of tokens, and the number of search results for each of twenty ids. */
function found(address: string, key: string, made: ReadonlyMap<string, string>): Promise<readonly unknown[]> {
  const queries = ['type:token', ...[...made.keys()].slice(0, 20).map((id) => `id:"${id}"`)];
  return Promise.all(
    queries.map(async (query) => {
      const { body } = await http('POST', `${address}/tokens/search`, { key, body: { query, size: 1 } });
      return (body as { readonly pagination?: { readonly total_items: number } }).pagination?.total_items;
    }),
  );
}

/**
 * Holds a rebuild before it records the progress of the page with this number. The rebuild reads the head once when it
 * begins, and again each time before it records the progress of a page.
 */
function holdBefore(page: number, log: EventLog) {
  const { head } = log;
  let asked = 0;
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  Object.assign(log, {
    async head() {
      asked += 1;
      if (asked > page) await released;
      return head();
    },
  });
  const isHeld = () => vi.waitFor(() => expect(asked).toBe(page + 1), generous);
  return { isHeld, release: () => release() };
}

/**
 * Begins a rebuild. Once it has stored a page, copies the files, which a kill at this moment would leave in the same
 * state. Returns the folder of the copy.
 */
async function filesMidway({ dataDir, rootKeyFile }: TestVault): Promise<string> {
  const fail = (error: unknown) => expect.unreachable(String(error));
  const service = await openEmbedded({
    dataDir,
    rootKey: rootKeyIn(rootKeyFile),
    mode: 'production',
    cvcRetentionMs: 3_600_000,
    onError: fail,
    onBroken: fail,
  });
  const { isHeld, release } = holdBefore(2, service.vault.log);
  expect(await service.projections.rebuild('tokens', false)).toBe('started');
  await isHeld();
  const copy = join(tempDir(), 'data');
  execFileSync('cp', ['-a', dataDir, copy]);
  release();
  await service.close();
  return copy;
}

test('a rebuild that was killed continues correctly after all keys were rotated, and ends with the same rows', async () => {
  const vault = await makeVault();
  const { key } = vault;
  const first = await startService(vault.flags, { env });
  const made = await fill(first.address, vault, tokens);
  const before = await found(first.address, key, made);
  expect(before[0]).toBe(tokens);
  expect((await http('POST', `${first.address}/tokens`, { key, body: { type: 'token', data: 'last' } })).status).toBe(
    201,
  );
  await first.stop();
  const dataDir = await filesMidway(vault);
  const flags = ['--data', dataDir, '--root-key-file', vault.rootKeyFile];
  const midway = rebuildIn(dataDir);
  expect(midway).toMatchObject({ phase: 'building' });
  expect(midway?.position).toBeGreaterThan(0);
  const { keys } = storedIn(dataDir);
  expect(keys).toHaveLength(2);

  expect(await runJson(['keys', 'rotate', '--all', ...flags])).toMatchObject({ state: 'rotated' });
  expect(rebuildIn(dataDir), 'the rotation leaves it alone').toEqual(midway);
  const second = await startService(flags, { env });
  await vi.waitFor(() => expect(rebuildIn(dataDir)?.phase).toBe('keeping'), generous);
  expect(rebuildIn(dataDir)).toMatchObject({ outcome: null, different: 0, generation: 2 });
  expect(await found(second.address, key, made)).toEqual([tokens + 1, ...before.slice(1)]);
  expect(await unread(second.address, key, made)).toEqual([]);
  expect((await second.stop()).stderr).toBe('');
});

test('a rotation during a rebuild does not disturb it', async () => {
  const { service, vault, dataDir, call, close, errors } = await startTestService({ keptMs: 60_000 });
  const made = await Promise.all(
    Array.from({ length: 300 }, async (_, n) => {
      const { body } = await call('POST', '/tokens', { type: 'token', data: `value ${n}` });
      return { id: String(body['id']), data: `value ${n}` };
    }),
  );
  const { isHeld, release } = holdBefore(1, vault.log);
  expect(await service.projections.rebuild('tokens', false)).toBe('started');
  await isHeld();
  const next = randomBytes(32);
  await rotateKeys(vault.keys.rotation, next);
  expect(await vault.keys.rotation.isUnder(next)).toBe(true);
  expect(rebuildIn(dataDir), 'it has hardly begun').toMatchObject({ phase: 'building', position: 0 });
  release();
  await vi.waitFor(() => expect(rebuildIn(dataDir)?.phase).toBe('keeping'), generous);
  expect(rebuildIn(dataDir)).toMatchObject({ outcome: null, different: 0, generation: 2 });
  for (const { id, data } of made) expect((await call('GET', `/tokens/${id}`)).body).toMatchObject({ data });
  expect((await call('POST', '/tokens/search', { query: 'type:token', size: 1 })).body).toMatchObject({
    pagination: { total_items: made.length },
  });
  expect(errors).toEqual([]);
  await close();
});
