import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { consoleSessionIndexes, mongoConsoleSessions } from '#src/adapters/mongodb/console-sessions.js';
import { ensureIndexes } from '#src/adapters/mongodb/required-indexes.js';
import { databaseOfTest } from '../own-database.js';
import { profiled } from '../profiled.js';

test('a sign-in or a sign-out reads only the sessions that it removes, however many are stored', async () => {
  const { connection } = await databaseOfTest();
  await ensureIndexes(connection.db, [consoleSessionIndexes]);
  const sessions = mongoConsoleSessions(connection);
  const stored = Array.from({ length: 1_000 }, (_, index) => ({
    id: randomUUID(),
    sealed: Buffer.alloc(300),
    subjects: [`key:${index % 250}`],
    expiresAt: index,
  }));
  await Promise.all(stored.map(sessions.insert));
  const calls = await profiled(connection, async () => {
    await sessions.forget(5);
    await sessions.keepLatestOf('key:100', 2);
    await sessions.removeOf(['key:200', 'key:201']);
    await sessions.take(String(stored[300]?.id));
  });
  expect(await sessions.count()).toBe(1_000 - 5 - 2 - 8 - 1);
  const ofSessions = calls.filter(({ collection }) => collection === 'console_sessions');
  expect(ofSessions.length).toBeGreaterThanOrEqual(5);
  for (const call of ofSessions) {
    expect(call.plan, JSON.stringify(call)).toMatch(/^(IDHACK|EXPRESS|IXSCAN)/);
    expect(call.docsExamined, JSON.stringify(call)).toBeLessThanOrEqual(8);
  }
});
