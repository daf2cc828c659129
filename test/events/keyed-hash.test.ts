import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keyedHash } from '#src/events/sealing/keyed-hash.js';
import { fingerprintHash, fingerprintOf } from '#src/events/tokens/fingerprint.js';
import { tokenStream } from '#src/events/tokens/stream-name.js';

const key = randomBytes(32);
const hash = (purpose: string, ...parts: string[]) => keyedHash(key, purpose, ...parts).toString('hex');

test('two lists of parts have the same hash only if they are equal', () => {
  const parts = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '\u0000', 'é', '4') }), {
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(
    fc.property(parts, parts, ([one = '', ...rest], [other = '', ...others]) => {
      const same = JSON.stringify([one, ...rest]) === JSON.stringify([other, ...others]);
      expect(hash(one, ...rest) === hash(other, ...others)).toBe(same);
    }),
    { numRuns: 2_000 },
  );
  expect(hash('a', 'bc')).not.toBe(hash('ab', 'c'));
  expect(hash('a', 'b', 'c')).not.toBe(hash('a', 'bc'));
  expect(hash('a', '')).not.toBe(hash('a'));
});

test('hashes for different purposes never collide, whatever their parts', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), fc.array(fc.string()), (one, other) => {
      expect(hash('token-stream', ...one)).not.toBe(hash('fingerprint', ...other));
    }),
  );
});

test('another key results in another hash', () => {
  expect(keyedHash(randomBytes(32), 'p', 'x').equals(keyedHash(key, 'p', 'x'))).toBe(false);
});

test('hashes stay the same across versions, because callers and stores keep them', () => {
  const fixed = Buffer.alloc(32, 7);
  expect(tokenStream(fixed, 'an id')).toBe('token-c9dcd2d94c459d7faca7e4d66f4d0642cb078ca4dc8ab355fe059797f1734780');
  expect(fingerprintOf(fixed, 'card', '4242424242424242')).toBe('9HhiJeqJC6hFEAgTNixKSbB9HjZPHfy6mMRyxM1gfNc8');
  expect(fingerprintHash(fixed, 'a fingerprint')).toBe(
    'd4d0259cbcc7f49caffb65519a4797f8aad24a92259801d8903f804368576f05',
  );
});

test('a stream name has a fixed form and reveals nothing about the id', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 3 }), (id) => {
      const name = tokenStream(key, id);
      expect(name).toMatch(/^token-[0-9a-f]{64}$/);
      expect(tokenStream(randomBytes(32), id)).not.toBe(name);
    }),
  );
  const names = ['a', 'A', 'a ', 'á', 'a\u0301', 'a\u0000'].map((id) => tokenStream(key, id));
  expect(new Set(names).size).toBe(names.length);
});

test('a fingerprint depends on the type, and the stored text differs from the one that callers get', () => {
  const fingerprint = fingerprintOf(key, 'card', '4242');
  expect(fingerprint).toMatch(/^[1-9A-HJ-NP-Za-km-z]{43,44}$/);
  expect(fingerprintOf(key, 'token', '4242')).not.toBe(fingerprint);
  expect(fingerprintHash(key, fingerprint)).toMatch(/^[0-9a-f]{64}$/);
  expect(fingerprintHash(key, fingerprint)).not.toContain(fingerprint);
});
