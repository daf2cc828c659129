import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { openDataKey, rewrapDataKey, wrapDataKey } from '#src/keys/data-key.js';
import { deriveSearchTermKey } from '#src/keys/generation-key.js';
import { keyBytes, ownBuffer, randomKeys } from '#src/keys/random-key.js';
import { deriveSubkeys } from '#src/keys/tenant-key.js';
import { integrityKeysOf, signingKeyOf } from '#src/keys/vault-keys.js';

test('keys of all block sizes differ and do not overlap', () => {
  const keys = [1, 8, 256, 255, 3].flatMap(randomKeys);
  for (const key of keys) expect(key).toHaveLength(keyBytes);
  const before = keys.map((key) => key.toString('hex'));
  expect(new Set(before).size).toBe(523);
  keys[0]?.fill(0);
  expect(keys.slice(1).map((key) => key.toString('hex'))).toEqual(before.slice(1));
});

/** Threat: an attacker reads the memory of a process, and finds the keys of tokens that are created days later. */
test('memory that is reserved for later keys contains no random bytes', () => {
  const [key = Buffer.alloc(0)] = randomKeys(1);
  const later = Buffer.from(key.buffer, key.byteOffset + keyBytes);
  expect(later.every((byte) => byte === 0)).toBe(true);
});

test('a copied key is zeroed where it was copied from', () => {
  const bytes = Buffer.alloc(keyBytes, 7);
  expect(ownBuffer(bytes)).toEqual(Buffer.alloc(keyBytes, 7));
  expect(bytes).toEqual(Buffer.alloc(keyBytes));
});

test.each<[string, (key: Buffer) => unknown]>([
  ['an identity key', (key) => deriveSubkeys(key, () => 0)],
  ['a generation key', (key) => deriveSearchTermKey(key, 'tenant', Buffer.alloc(keyBytes, 1))],
  ['the seed of the signing key', signingKeyOf],
  ['the secret of the integrity keys', integrityKeysOf],
])('%s is zeroed when its keys have been derived from it', (_what, derive) => {
  const key = Buffer.alloc(keyBytes, 7);
  derive(key);
  expect(key).toEqual(Buffer.alloc(keyBytes));
});

test('a data key is zeroed when it has been rewrapped', () => {
  const [from, to] = [
    { id: 'old', key: Buffer.alloc(keyBytes, 1) },
    { id: 'new', key: Buffer.alloc(keyBytes, 2) },
  ];
  const of = { tenantId: 'tenant', keyId: 'key' };
  const key = randomBytes(keyBytes);
  const wrapped = wrapDataKey(from.key, key, { ...of, tenantKeyId: from.id });
  // Memory is allocated for 256 keys at once, so this key is the first in new memory.
  const [, [before = Buffer.alloc(0)]] = [randomKeys(256), randomKeys(1)];
  const rewrapped = rewrapDataKey(from, to, wrapped, of);
  // The unwrapped key was written to the memory after the last key.
  expect(Buffer.from(before.buffer, before.byteOffset + keyBytes, keyBytes)).toEqual(Buffer.alloc(keyBytes));
  expect(openDataKey(to.key, rewrapped ?? Buffer.alloc(0), { ...of, tenantKeyId: to.id })).toEqual(key);
});
