import type { ConsoleSessions, StoredConsoleSession } from '../../ports/console-sessions.js';

/** Implements `ConsoleSessions` in the memory of one process. Restarting the process signs out all users. */
export function memoryConsoleSessions(): ConsoleSessions {
  const sessions = new Map<string, StoredConsoleSession>();

  function removeIf(matches: (session: StoredConsoleSession) => boolean): number {
    const matching = [...sessions.values()].filter(matches);
    for (const { id } of matching) sessions.delete(id);
    return matching.length;
  }

  return {
    async insert(session) {
      sessions.set(session.id, session);
    },
    get: async (id) => sessions.get(id) ?? null,
    async replace(session) {
      if (!sessions.has(session.id)) return false;
      sessions.set(session.id, session);
      return true;
    },
    async take(id) {
      const session = sessions.get(id) ?? null;
      sessions.delete(id);
      return session;
    },
    removeOf: async (subjects) => removeIf((session) => session.subjects.some((subject) => subjects.includes(subject))),
    async keepLatestOf(subject, kept) {
      const found = [...sessions.values()].filter(({ subjects }) => subjects.includes(subject));
      if (found.length <= kept) return;
      found.sort((one, other) => other.expiresAt - one.expiresAt);
      for (const { id } of found.slice(kept)) sessions.delete(id);
    },
    count: async () => sessions.size,
    async forget(expiredBefore) {
      removeIf(({ expiresAt }) => expiresAt < expiredBefore);
    },
  };
}
