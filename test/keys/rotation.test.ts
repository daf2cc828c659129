import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openSqliteStores } from '#src/adapters/sqlite/open-stores.js';
import { rotateKeys } from '#src/jobs/rotate-keys.js';
import { openKeyRing } from '#src/keys/open-key-ring.js';
import type { KeyStore, RotationRows } from '#src/ports/key-store.js';
import { manualClock } from '../support/manual-clock.js';

/** Returns the keys with one flipped bit in the first of them. */
function damaged<Key extends { readonly wrapped: Buffer }>(keys: readonly Key[]): readonly Key[] {
  return keys.map((key, index) => {
    const wrapped = Buffer.from(key.wrapped);
    wrapped[30] = (wrapped[30] ?? 0) ^ (index === 0 ? 1 : 0);
    return { ...key, wrapped };
  });
}

test.each<readonly [string, string, (rows: RotationRows) => Partial<RotationRows>]>([
  [
    'a data key',
    'the data key',
    (rows) => ({
      async livingDataKeys(after, limit) {
        const page = await rows.livingDataKeys(after, limit);
        return page === null ? null : { ...page, keys: damaged(page.keys) };
      },
    }),
  ],
  [
    'a tenant key',
    'the identity key',
    (rows) => ({
      replaceRoot: (root) =>
        rows.replaceRoot({
          ...root,
          rewrap: (tenantKeys, generationKeys) => {
            const identity = tenantKeys.filter(({ purpose }) => purpose === 'identity');
            return root.rewrap(damaged(identity), generationKeys);
          },
        }),
    }),
  ],
  [
    'a search key',
    'the search key of generation 1',
    (rows) => ({
      replaceRoot: (root) =>
        rows.replaceRoot({
          ...root,
          rewrap: (tenantKeys, generationKeys) => root.rewrap(tenantKeys, damaged(generationKeys)),
        }),
    }),
  ],
])(
  'a rotation that finds %s damaged is rejected, and the old root key still opens everything',
  async (_, what, rows) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'strongroom-rotation-'));
    onTestFinished(() => rmSync(dataDir, { recursive: true }));
    const clock = manualClock();
    const { keyStore, close } = await openSqliteStores(dataDir, clock, (error) => {
      throw error;
    });
    onTestFinished(close);
    const rootKey = randomBytes(32);
    const next = randomBytes(32);
    const open = (store: KeyStore) => openKeyRing({ store, rootKey, clock });
    const keys = await open({ ...keyStore, rotation: { ...keyStore.rotation, ...rows(keyStore.rotation) } });
    const tenantId = randomUUID();
    await keys.createTenant(tenantId);
    const { id, key } = await keys.create(tenantId);
    await expect(rotateKeys(keys.rotation, next)).rejects.toThrow(
      new RegExp(`^${what}.* does not open, so it cannot be rewrapped; nothing was removed`),
    );
    const again = await open(keyStore);
    expect(await again.rotation.isUnder(next)).toBe(false);
    expect(await again.check.underRoot([tenantId])).toEqual([]);
    expect(await again.use(tenantId, id, (opened) => opened.equals(key))).toMatchObject({ state: 'open', value: true });
  },
);
