import type { MongoClient, UUID } from 'mongodb';

/** No transaction of ours waits so long for its next statement: each has a few, one after the other. */
const leftAfterMicros = 2_000_000;
const lookLimitMs = 1_000;

/**
 * Answers how to end transactions that nobody goes on with, as a process leaves them that was killed or is frozen: all that
 * they changed would stay locked for a minute (`transactionLifetimeLimitSeconds`). Looks only at those of this user under
 * this application name, for which MongoDB asks for no privilege. A process that lives after all runs its transaction again.
 * Never throws: whoever waits has an error of its own when this does not help.
 */
export function leftTransactions(client: MongoClient, appName: string): { end(): Promise<void> } {
  const admin = client.db('admin');
  let isLooking = false;

  async function endThem(): Promise<void> {
    const left = await admin
      .aggregate<{ lsid: { id: UUID } }>(
        [
          { $currentOp: { allUsers: false, idleSessions: true } },
          { $match: { type: 'idleSession', appName, 'transaction.timeInactiveMicros': { $gt: leftAfterMicros } } },
          { $project: { lsid: 1 } },
        ],
        // A Buffer would be an id no more.
        { readConcern: { level: 'local' }, maxTimeMS: lookLimitMs, promoteBuffers: false },
      )
      .toArray();
    if (left.length > 0) await admin.command({ killSessions: left.map(({ lsid }) => ({ id: lsid.id })) });
  }

  return {
    async end() {
      if (isLooking) return;
      isLooking = true;
      await endThem().catch(() => undefined);
      isLooking = false;
    },
  };
}
