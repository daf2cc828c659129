import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { expect, test } from 'vitest';
import { http, makeVault, runJson, startService, tempDir } from '../support/process.js';
import { fill, rootKeyIn } from './support.js';

const chunkBytes = 16 * 1024 * 1024;

/** True if the current user may read the memory of other processes of the same user. */
const mayLook = (() => {
  try {
    closeSync(openSync(`/proc/${process.ppid}/mem`, 'r'));
    return true;
  } catch {
    return false;
  }
})();

/**
 * Returns how many times each pattern occurs in a process's writable memory. This memory includes the heap, the stacks
 * and the buffers of all threads.
 */
function countInMemory(pid: number, patterns: Readonly<Record<string, Buffer>>): Record<string, number> {
  const counts = Object.fromEntries(Object.keys(patterns).map((name) => [name, 0]));
  const overlap = Math.max(...Object.values(patterns).map(({ length }) => length)) - 1;
  const buffer = Buffer.alloc(chunkBytes + overlap);
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  try {
    for (const line of readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
      const [, from, to, rights = ''] = /^([0-9a-f]+)-([0-9a-f]+) (\S+)/.exec(line) ?? [];
      if (from === undefined || to === undefined || !rights.startsWith('rw')) continue;
      for (let at = BigInt(`0x${from}`); at < BigInt(`0x${to}`); at += BigInt(chunkBytes)) {
        const left = Number(BigInt(`0x${to}`) - at);
        let read = 0;
        try {
          read = readSync(memory, buffer, 0, Math.min(buffer.length, left), at);
        } catch {
          // The page is reserved but not mapped, so it cannot be read.
          continue;
        }
        const chunk = buffer.subarray(0, read);
        for (const [name, pattern] of Object.entries(patterns)) {
          for (let found = chunk.indexOf(pattern); found >= 0 && found < chunkBytes; ) {
            counts[name] = (counts[name] ?? 0) + 1;
            found = chunk.indexOf(pattern, found + 1);
          }
        }
      }
    }
  } finally {
    closeSync(memory);
  }
  return counts;
}

function formsOf(key: Buffer): Record<string, Buffer> {
  const hex = key.toString('hex');
  return {
    bytes: key,
    hex: Buffer.from(hex),
    'upper-case hex': Buffer.from(hex.toUpperCase()),
    base64: Buffer.from(key.toString('base64').replace(/=+$/, '')),
    base64url: Buffer.from(key.toString('base64url')),
    'hex in UTF-16': Buffer.from(hex, 'utf16le'),
  };
}

test.skipIf(!mayLook)(
  'after a rotation, the memory of the service does not contain the old root key in any form',
  async () => {
    const vault = await makeVault(tempDir());
    const service = await startService(vault.flags);
    const old = rootKeyIn(vault.rootKeyFile);
    const made = await fill(service.address, vault, 50);
    // A rebuild opens rows on a second thread, which gets a copy of the root key. After the rebuild, the vault retains
    // the old rows for a while.
    await runJson(['projections', 'rebuild', 'tokens', '--yes', ...vault.flags]);
    const before = countInMemory(service.pid, formsOf(old));
    // The search finds the old root key while it is in use. This proves that the search works.
    expect(before['bytes']).toBeGreaterThan(0);
    await runJson(['keys', 'rotate', '--all', ...vault.flags]);
    const present = rootKeyIn(vault.rootKeyFile);
    expect(present.equals(old)).toBe(false);
    for (const id of [...made.keys()].slice(0, 5)) {
      expect(await http('GET', `${service.address}/tokens/${id}`, { key: vault.key })).toMatchObject({ status: 200 });
    }
    const after = countInMemory(service.pid, formsOf(old));
    expect(Object.fromEntries(Object.entries(after).filter(([, count]) => count > 0))).toEqual({});
    expect(countInMemory(service.pid, formsOf(present))['bytes']).toBeGreaterThan(0);
  },
);
