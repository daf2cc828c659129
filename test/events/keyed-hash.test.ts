import { createHmac, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hmac, hmacHex } from '#src/events/sealing/hashes.js';
import { keyedHash } from '#src/events/sealing/keyed-hash.js';
import { fingerprintHash, fingerprintOf } from '#src/events/tokens/fingerprint.js';
import { tokenStream } from '#src/events/tokens/stream-name.js';

const key = randomBytes(32);
const hash = (purpose: string, ...parts: string[]) => keyedHash(key, purpose, ...parts);

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

test('texts that differ only in a lone surrogate have different hashes', () => {
  const surrogates = Array.from({ length: 0x800 }, (_, index) => String.fromCharCode(0xd800 + index));
  const hashes = ['\ufffd', ...surrogates].map((text) => hash('purpose', `aé€😀${text}z`));
  expect(new Set(hashes).size).toBe(0x801);
});

test('hashes for different purposes are never equal, whatever their parts are', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), fc.array(fc.string()), (one, other) => {
      expect(hash('token-stream', ...one)).not.toBe(hash('fingerprint', ...other));
    }),
  );
});

test('another key results in another hash', () => {
  expect(keyedHash(randomBytes(32), 'p', 'x')).not.toBe(keyedHash(key, 'p', 'x'));
});

test('a hash equals the HMAC-SHA-256 that Node.js computes, for keys and messages of any length', () => {
  const bytes = fc.uint8Array({ maxLength: 200 });
  fc.assert(
    fc.property(bytes, bytes, bytes, (given, one, other) => {
      const expected = createHmac('sha256', given).update(one).update(other).digest('hex');
      const text = Buffer.concat([one, other]).toString('latin1');
      expect(hmacHex(given, text)).toBe(expected);
      expect(hmac(given, one, other).toString('hex')).toBe(expected);
    }),
  );
  // HMAC hashes a key that is longer than a block of 64 bytes.
  for (const given of [63, 64, 65].map((length) => randomBytes(length))) {
    expect(hmacHex(given, 'message'), `${given.length} bytes`).toBe(
      createHmac('sha256', given).update('message').digest('hex'),
    );
  }
  // Beyond 16 KiB, the hash is computed in a different way.
  for (const length of [16_000, 16_320, 16_321, 500_000]) {
    const [one, other] = [randomBytes(length - 7), randomBytes(7)];
    const expected = createHmac('sha256', key).update(one).update(other).digest('hex');
    expect(hmacHex(key, Buffer.concat([one, other]).toString('latin1')), `${length} bytes`).toBe(expected);
    expect(hmac(key, one, other).toString('hex'), `${length} bytes`).toBe(expected);
  }
});

test('a fingerprint is the hash in base58', () => {
  const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
  const parts = ['\0\0\0\x0bfingerprint', '\0\0\0\x04card'];
  for (let n = 0; n < 2_000; n += 1) {
    const value = String(n).padStart(4, '0');
    const digest = createHmac('sha256', key)
      .update(`${parts.join('')}\0\0\0\x04${value}`)
      .digest();
    const digits = [...fingerprintOf(key, 'card', value)];
    const number = digits.reduce((sum, digit) => sum * 58n + BigInt(alphabet.indexOf(digit)), 0n);
    expect(number).toBe(BigInt(`0x${digest.toString('hex')}`));
    // A leading zero byte is encoded as a leading `1`.
    const zeros = digest.findIndex((byte) => byte !== 0);
    expect(digits.findIndex((digit) => digit !== '1')).toBe(zeros);
  }
});

test('hashes stay the same in later versions, because callers and stores keep them', () => {
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

test('a fingerprint depends on the type, and the stored fingerprint differs from the one that callers see', () => {
  const fingerprint = fingerprintOf(key, 'card', '4242');
  expect(fingerprint).toMatch(/^[1-9A-HJ-NP-Za-km-z]{43,44}$/);
  expect(fingerprintOf(key, 'token', '4242')).not.toBe(fingerprint);
  expect(fingerprintHash(key, fingerprint)).toMatch(/^[0-9a-f]{64}$/);
  expect(fingerprintHash(key, fingerprint)).not.toContain(fingerprint);
});
