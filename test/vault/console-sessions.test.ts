import { describe, expect, test } from 'vitest';
import { memoryConsoleSessions } from '#src/adapters/memory/memory-console-sessions.js';
import { systemRandom } from '#src/compose/vault/compose-vault.js';
import { authenticConsoleSessions, type ConsoleSession } from '#src/vault/authentic-console-sessions.js';

const content: ConsoleSession = {
  kind: 'session',
  privateKeyHash: 'a'.repeat(64),
  managementKeyHash: null,
  isOperator: false,
  name: 'Ada Lovelace',
  issuer: null,
  openedAt: 1,
  seenAt: 1,
  membership: null,
};
const session = { id: 'one', subjects: ['key:a'], expiresAt: 900_000, content };

async function stored() {
  const store = memoryConsoleSessions();
  const sessions = authenticConsoleSessions(store, Buffer.alloc(32, 7), systemRandom);
  await sessions.insert(session);
  const document = await store.get('one');
  if (document === null) throw new Error('the session was stored');
  return { store, sessions, document };
}

describe('an attacker who can write to the store', () => {
  test('cannot read any part of a session', async () => {
    const { document } = await stored();
    const text = Buffer.from(document.sealed).toString('latin1');
    expect(text).not.toContain('Ada');
    expect(text).not.toContain('aaaa');
  });

  test('cannot see that two sessions have the same content, because each is encrypted with its own nonce', async () => {
    const [one, two] = [await stored(), await stored()];
    expect(one.document.sealed.slice(0, 12)).not.toEqual(two.document.sealed.slice(0, 12));
  });

  test.each([
    ['stored under another id', { id: 'two' }],
    ['given a later expiry', { expiresAt: 10 * 900_000 }],
    ['given other subjects, so that it would be missed when their sessions are closed', { subjects: [] }],
    ['given other bytes', { sealed: Buffer.alloc(80, 1) }],
    ['given no bytes', { sealed: Buffer.alloc(0) }],
  ])('cannot use a session that was %s', async (_what, change) => {
    const { store, sessions, document } = await stored();
    const changed = { ...document, ...change };
    await store.insert(changed);
    expect(await sessions.get(changed.id)).toBeNull();
    expect(await sessions.take(changed.id)).toBeNull();
  });

  test('cannot damage the index so that a browser gets the session of another browser', async () => {
    const { store, document } = await stored();
    const damaged = { ...store, get: async () => document, take: async () => document };
    const sessions = authenticConsoleSessions(damaged, Buffer.alloc(32, 7), systemRandom);
    expect(await sessions.get('one')).toEqual(session);
    expect(await sessions.get('two')).toBeNull();
    expect(await sessions.take('two')).toBeNull();
  });

  test('cannot seal a session without the vault’s key', async () => {
    const { store, sessions } = await stored();
    const foreign = authenticConsoleSessions(store, Buffer.alloc(32, 8), systemRandom);
    await foreign.insert({ ...session, content: { ...content, isOperator: true } });
    expect(await sessions.get('one')).toBeNull();
  });
});

test('a session is read back as it was stored', async () => {
  const { sessions } = await stored();
  expect(await sessions.get('one')).toEqual(session);
});
