import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ConsoleSessions, StoredConsoleSession } from '#src/ports/console-sessions.js';

type Open = () => Promise<{ readonly sessions: ConsoleSessions; readonly close: () => Promise<void> }>;

const aSession = (given: Partial<StoredConsoleSession> = {}): StoredConsoleSession => ({
  id: randomUUID(),
  sealed: randomBytes(40),
  subjects: [randomUUID()],
  expiresAt: 1_000,
  ...given,
});

/** Defines the tests that every adapter for `ConsoleSessions` must pass. */
export function consoleSessionsContract(name: string, open: Open): void {
  const on = (run: (sessions: ConsoleSessions) => Promise<void>) => async () => {
    const { sessions, close } = await open();
    try {
      await run(sessions);
    } finally {
      await close();
    }
  };
  const bytesOf = (session: StoredConsoleSession | null) =>
    session === null ? null : { ...session, sealed: [...session.sealed] };

  describe(`ConsoleSessions: ${name}`, () => {
    test(
      'a session is returned as it was stored, and an unknown session is null',
      on(async (sessions) => {
        const session = aSession({ subjects: ['key:one', 'operator'] });
        await sessions.insert(session);
        expect(bytesOf(await sessions.get(session.id))).toEqual(bytesOf(session));
        expect(await sessions.get(randomUUID())).toBeNull();
      }),
    );

    test(
      'replacing a removed session does not bring it back',
      on(async (sessions) => {
        const session = aSession();
        await sessions.insert(session);
        const later = { ...session, expiresAt: 2_000 };
        expect(await sessions.replace(later)).toBe(true);
        expect((await sessions.get(session.id))?.expiresAt).toBe(2_000);
        await sessions.take(session.id);
        expect(await sessions.replace(later)).toBe(false);
        expect(await sessions.get(session.id)).toBeNull();
      }),
    );

    test(
      'if many callers take one session, only one caller gets it',
      on(async (sessions) => {
        const session = aSession();
        await sessions.insert(session);
        const taken = await Promise.all(Array.from({ length: 8 }, () => sessions.take(session.id)));
        expect(taken.filter((one) => one !== null)).toHaveLength(1);
      }),
    );

    test(
      'all sessions of one subject are removed, and the sessions of other subjects stay',
      on(async (sessions) => {
        const subject = randomUUID();
        const mine = [aSession({ subjects: [subject] }), aSession({ subjects: [randomUUID(), subject] })];
        const other = aSession();
        for (const session of [...mine, other]) await sessions.insert(session);
        expect(await sessions.removeOf([subject, randomUUID()])).toBe(2);
        for (const { id } of mine) expect(await sessions.get(id)).toBeNull();
        expect(await sessions.get(other.id)).not.toBeNull();
      }),
    );

    test(
      'of the sessions of one subject, those that expire last are kept',
      on(async (sessions) => {
        const subject = randomUUID();
        const mine = [5_000, 3_000, 4_000].map((expiresAt) =>
          aSession({ expiresAt, subjects: [randomUUID(), subject] }),
        );
        const other = aSession();
        for (const session of [...mine, other]) await sessions.insert(session);
        await sessions.keepLatestOf(subject, 3);
        await sessions.keepLatestOf(subject, 2);
        const stored = await Promise.all([...mine, other].map(({ id }) => sessions.get(id)));
        expect(stored.map((session) => session?.expiresAt ?? null)).toEqual([5_000, null, 4_000, 1_000]);
      }),
    );

    test(
      'sessions are counted until they are removed',
      on(async (sessions) => {
        const before = await sessions.count();
        const [one, other] = [aSession(), aSession()];
        for (const session of [one, other]) await sessions.insert(session);
        expect(await sessions.count()).toBe(before + 2);
        await sessions.take(one.id);
        expect(await sessions.count()).toBe(before + 1);
        await sessions.take(other.id);
      }),
    );

    test(
      'expired sessions are removed, and the others stay',
      on(async (sessions) => {
        const [old, young] = [aSession({ expiresAt: 999 }), aSession({ expiresAt: 1_000 })];
        for (const session of [old, young]) await sessions.insert(session);
        await sessions.forget(1_000);
        expect(await sessions.get(old.id)).toBeNull();
        expect(await sessions.get(young.id)).not.toBeNull();
      }),
    );
  });
}
