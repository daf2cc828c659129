import { expect, test } from 'vitest';
import { keyBytes, ownBuffer, randomKeys } from '#src/keys/random-key.js';

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
