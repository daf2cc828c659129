import { expect, test, vi } from 'vitest';
import { fill, unread } from '../rotation/support.js';
import { http, makeVault, run, runJson, startService } from '../support/process.js';
import { generous, openVault, storedIn } from './support.js';

const env = { STRONGROOM_RATE_LIMIT_REQUESTS: '0' };
const tokens = 1_500;

function rebuildIn(dataDir: string): { readonly phase: string; readonly position: number } | null {
  const vault = openVault(dataDir);
  try {
    const text = vault.prepare(`SELECT rebuild FROM projections WHERE name = 'tokens'`).pluck().get() as string | null;
    return text === null ? null : JSON.parse(text);
  } finally {
    vault.close();
  }
}

/** How many tokens there are, and how many each of some ids finds. */
function found(address: string, key: string, made: ReadonlyMap<string, string>): Promise<readonly unknown[]> {
  const queries = ['type:token', ...[...made.keys()].slice(0, 20).map((id) => `id:"${id}"`)];
  return Promise.all(
    queries.map(async (query) => {
      const { body } = await http('POST', `${address}/tokens/search`, { key, body: { query, size: 1 } });
      return (body as { readonly pagination?: { readonly total_items: number } }).pagination?.total_items;
    }),
  );
}

test('a rebuild that was killed goes on rightly after all keys were rotated, and ends with the same rows', async () => {
  const vault = await makeVault();
  const { dataDir, flags, key } = vault;
  const first = await startService(flags, { env });
  const made = await fill(first.address, vault, tokens);
  const before = await found(first.address, key, made);
  expect(before[0]).toBe(tokens);
  expect((await http('POST', `${first.address}/tokens`, { key, body: { type: 'token', data: 'last' } })).status).toBe(
    201,
  );
  const started = run(['projections', 'rebuild', 'tokens', '--yes', ...flags]);
  await vi.waitFor(() => expect(rebuildIn(dataDir)?.position ?? 0).toBeGreaterThan(0), generous);
  await first.stop('SIGKILL');
  await started;
  const { phase } = rebuildIn(dataDir) ?? {};
  expect(['building', 'comparing'], 'it was killed in the middle').toContain(phase);
  const { keys } = storedIn(dataDir);
  expect(keys).toHaveLength(2);

  expect(await runJson(['keys', 'rotate', '--all', ...flags])).toMatchObject({ state: 'rotated' });
  expect(rebuildIn(dataDir)?.phase, 'the rotation leaves it alone').toBe(phase);
  const second = await startService(flags, { env });
  await vi.waitFor(() => expect(rebuildIn(dataDir)?.phase).toBe('keeping'), generous);
  expect(rebuildIn(dataDir)).toMatchObject({ outcome: null, different: 0, generation: 2 });
  expect(await found(second.address, key, made)).toEqual([tokens + 1, ...before.slice(1)]);
  expect(await unread(second.address, key, made)).toEqual([]);
  expect((await second.stop()).stderr).toBe('');
});

test('keys that are rotated while a rebuild is under way are no obstacle to it', async () => {
  const vault = await makeVault();
  const { dataDir, flags, key } = vault;
  const service = await startService(flags, { env });
  const made = await fill(service.address, vault, tokens);
  const rebuilt = run(['projections', 'rebuild', 'tokens', '--yes', ...flags]);
  await vi.waitFor(() => expect(rebuildIn(dataDir)?.position ?? 0).toBeGreaterThan(0), generous);
  expect(await runJson(['keys', 'rotate', '--all', ...flags])).toMatchObject({ state: 'rotated' });
  await vi.waitFor(() => expect(rebuildIn(dataDir)?.phase).toBe('keeping'), generous);
  expect(rebuildIn(dataDir)).toMatchObject({ outcome: null, different: 0 });
  expect(await unread(service.address, key, made)).toEqual([]);
  expect((await found(service.address, key, made))[0]).toBe(tokens);
  await service.stop();
  await rebuilt;
});
