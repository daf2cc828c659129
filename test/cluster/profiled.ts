import type { Document } from 'mongodb';
import type { MongoConnection } from '#src/adapters/mongodb/connection.js';

/** The server's report about one call. `plan` is the server's summary of the query plan, such as IXSCAN or COLLSCAN. */
export type ProfiledCall = {
  readonly op: string;
  readonly collection: string;
  readonly plan: string;
  readonly keysExamined: number;
  readonly docsExamined: number;
  readonly command: Document;
};

/**
 * Runs `work`, and returns the server's profile of each call that `work` made to the database, in the order of the
 * calls.
 */
export async function profiled({ db }: MongoConnection, work: () => Promise<void>): Promise<readonly ProfiledCall[]> {
  await db.command({ profile: 2 });
  try {
    await work();
  } finally {
    await db.command({ profile: 0 });
  }
  const found = await db
    .collection('system.profile')
    .find({ ns: { $not: /system\.profile/ }, planSummary: { $exists: true } })
    .sort({ $natural: 1 })
    .toArray();
  return found.map((call) => ({
    op: String(call['op']),
    collection: String(call['ns']).split('.').slice(1).join('.'),
    plan: String(call['planSummary']),
    keysExamined: Number(call['keysExamined'] ?? 0),
    docsExamined: Number(call['docsExamined'] ?? 0),
    command: call['command'] as Document,
  }));
}
