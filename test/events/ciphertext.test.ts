import { createCipheriv, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CiphertextPlace, openCiphertext, sealCiphertext } from '#src/events/sealing/ciphertext.js';
import { openJson, sealJson } from '#src/events/sealing/json-ciphertext.js';

const key = randomBytes(32);
const place: CiphertextPlace = { tenantId: 't', stream: 'token-1', revision: 3, keyId: 'k', field: 'content' };

test('every sealed value can be opened', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (plain) => {
      expect([...(openCiphertext(key, sealCiphertext(key, plain, place), place) ?? [])]).toEqual([...plain]);
    }),
  );
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const opened = openJson(key, sealJson(key, value, place), place);
      expect(JSON.stringify(opened)).toBe(JSON.stringify(value));
    }),
  );
});

test('a ciphertext with any single bit changed cannot be opened', () => {
  const box = sealCiphertext(key, randomBytes(70), place);
  for (let at = 0; at < box.length; at += 1) {
    for (let bit = 0; bit < 8; bit += 1) {
      const changed = Buffer.from(box);
      changed.writeUInt8(changed.readUInt8(at) ^ (1 << bit), at);
      expect(openCiphertext(key, changed, place), `byte ${at}, bit ${bit}`).toBeNull();
    }
  }
});

test('a truncated or extended ciphertext cannot be opened', () => {
  const box = sealCiphertext(key, randomBytes(40), place);
  for (let length = 0; length < box.length; length += 1) {
    expect(openCiphertext(key, box.subarray(0, length), place), `${length} bytes`).toBeNull();
    expect(openCiphertext(key, box.subarray(box.length - length), place), `the last ${length} bytes`).toBeNull();
  }
  expect(openCiphertext(key, Buffer.concat([box, Buffer.alloc(1)]), place)).toBeNull();
});

test.each([
  ['tenant', { tenantId: 'T' }],
  ['stream', { stream: 'token-2' }],
  ['revision', { revision: 4 }],
  ['key id', { keyId: 'K' }],
  ['field', { field: 'cvc' }],
  ['boundary between two parts', { tenantId: 'tt', stream: 'oken-1' }],
] as const)('a ciphertext cannot be opened with another location: %s', (_, elsewhere) => {
  const box = sealCiphertext(key, Buffer.from('value'), place);
  expect(openCiphertext(key, box, { ...place, ...elsewhere })).toBeNull();
  expect(openJson(key, sealJson(key, 'value', place), { ...place, ...elsewhere })).toBeUndefined();
});

test('no two ciphertexts have the same nonce, however many are sealed', () => {
  const nonces = Array.from({ length: 3_000 }, () =>
    sealCiphertext(key, Buffer.from('value'), place).toString('hex', 1, 13),
  );
  expect(new Set(nonces).size).toBe(nonces.length);
});

test('a ciphertext cannot be opened with another key', () => {
  const box = sealCiphertext(key, Buffer.from('value'), place);
  for (let count = 0; count < 50; count += 1) expect(openCiphertext(randomBytes(32), box, place)).toBeNull();
});

describe('the format of a ciphertext', () => {
  test('is version, nonce, body and tag, in a buffer of its own', () => {
    const box = sealCiphertext(key, Buffer.alloc(64), place);
    expect([box[0], box.length]).toEqual([1, 1 + 12 + 64 + 16]);
    expect(box.buffer.byteLength).toBe(box.length);
  });

  test('contains a version, and another version cannot be opened, even with the same key and location', () => {
    const box = sealCiphertext(key, Buffer.alloc(64), place);
    for (const version of [0, 2, 255]) {
      box[0] = version;
      expect(openCiphertext(key, box, place), `version ${version}`).toBeNull();
    }
  });

  test('includes the location, so a ciphertext that was sealed without it cannot be opened', () => {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', key, nonce);
    const body = Buffer.concat([cipher.update('value'), cipher.final()]);
    expect(openCiphertext(key, Buffer.concat([Buffer.from([1]), nonce, body, cipher.getAuthTag()]), place)).toBeNull();
  });

  test('contains a nonce that is never used twice', () => {
    const nonces = Array.from({ length: 10_000 }, () =>
      sealCiphertext(key, Buffer.alloc(1), place).toString('hex', 1, 13),
    );
    expect(new Set(nonces).size).toBe(10_000);
  });
});

test('the ciphertexts of strings have equal lengths if the strings’ lengths are in the same 64-byte block', () => {
  fc.assert(
    fc.property(fc.nat(20), fc.integer({ min: 1, max: 64 }), fc.integer({ min: 1, max: 64 }), (blocks, one, other) => {
      // Two of the bytes are the quotes around the string.
      const text = (bytes: number) => 'x'.repeat(Math.max(0, 64 * blocks + bytes - 2));
      const [first, second] = [one, other].map((bytes) => sealJson(key, text(Math.max(bytes, 2)), place).length);
      expect(first).toBe(second);
      expect((Number(first) - 29) % 64).toBe(0);
    }),
  );
});
