import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { packStream, streamName } from '#src/adapters/sqlite/database/packed-text.js';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';

const hash = randomBytes(32);
const token = `token-${hash.toString('hex')}`;

test('the name of a token’s stream is stored as 32 bytes, and any other name as text', () => {
  expect(packStream(token)).toEqual(hash);
  for (const name of ['', 'log', 'token-', `${token}0`, token.slice(0, -1), token.toUpperCase(), ` ${token}`]) {
    expect(packStream(name)).toBe(name);
  }
  for (const name of [token, '', 'log', 'token-1', `${token}0`]) expect(nameOf(packStream(name))).toBe(name);
});

test('a value that the vault never stores has the name of no stream', () => {
  for (const stored of [token, Buffer.alloc(0), hash.subarray(1), Buffer.concat([hash, hash]), 5, 2 ** 60, null]) {
    expect(nameOf(stored)).toMatch(/^invalid name /);
  }
});

/** Returns the name that SQLite reads from a column that contains this value. */
function nameOf(stored: unknown): unknown {
  const database = pinStatements(':memory:', {});
  try {
    database.exec('CREATE TABLE stored (name ANY) STRICT');
    database.prepare('INSERT INTO stored VALUES (?)').run(stored);
    return database
      .prepare(`SELECT ${streamName('name')} FROM stored`)
      .pluck()
      .get();
  } finally {
    database.close();
  }
}
