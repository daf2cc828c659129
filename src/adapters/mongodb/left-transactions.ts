import type { MongoClient, UUID } from 'mongodb';

/**
 * A transaction that has been idle for this long is considered abandoned. No live transaction of the vault is idle for
 * so long, because each one runs a few statements in quick succession.
 */
const leftAfterMicros = 2_000_000;
const lookLimitMs = 1_000;

/**
 * Returns a function that ends abandoned transactions, which a killed or frozen process leaves behind. Without it, the
 * documents that they changed would stay locked for a minute (`transactionLifetimeLimitSeconds`). The function ends
 * only transactions of this database user under this application name, because MongoDB requires no privilege for these.
 * If the owner of an ended transaction is still alive, it runs the transaction again. The function never throws. If it
 * fails, the pending call reports its own error.
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
        // `killSessions` requires the ids as UUID values, not as Buffers.
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
