import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Packed, packStream, unpackStream } from '#src/adapters/sqlite/database/packed-text.js';

const hash = randomBytes(32);
const token = `token-${hash.toString('hex')}`;

test('the name of a token’s stream is stored as 32 bytes, and any other name as text', () => {
  expect(packStream(token)).toEqual(hash);
  for (const name of ['', 'log', 'token-', `${token}0`, token.slice(0, -1), token.toUpperCase(), ` ${token}`]) {
    expect(packStream(name)).toBe(name);
  }
  for (const name of [token, '', 'log', 'token-1', `${token}0`]) expect(unpackStream(packStream(name))).toBe(name);
});

test('a value that the vault never stores has the name of no stream', () => {
  for (const stored of [token, Buffer.alloc(0), hash.subarray(1), Buffer.concat([hash, hash]), 5, 2 ** 60, null]) {
    expect(unpackStream(stored as Packed)).toMatch(/^invalid name /);
  }
});
