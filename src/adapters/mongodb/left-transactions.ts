import type { MongoClient, UUID } from 'mongodb';

/**
 * A transaction that has been idle for this long is considered abandoned. The vault's live transactions are never idle
 * for this long, because each of them runs a few statements in quick succession.
 */
const leftAfterMicros = 2_000_000;
const lookLimitMs = 1_000;

/**
 * Returns a function that ends the transactions of killed or frozen processes. Otherwise, the documents changed in
 * these transactions would stay locked for a minute (`transactionLifetimeLimitSeconds`). The function ends only
 * transactions that have the same database user and application name, because MongoDB requires no privilege for that.
 * If the process that owns an ended transaction is still alive, it runs the transaction again. The function never
 * throws. If it fails, the waiting call reports its own error.
 */
export function endLeftTransactions(client: MongoClient, appName: string): () => Promise<void> {
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
        // `killSessions` accepts the ids only as UUID values, not as Buffers.
        { readConcern: { level: 'local' }, maxTimeMS: lookLimitMs, promoteBuffers: false },
      )
      .toArray();
    if (left.length > 0) await admin.command({ killSessions: left.map(({ lsid }) => ({ id: lsid.id })) });
  }

  return async () => {
    if (isLooking) return;
    isLooking = true;
    await endThem().catch(() => undefined);
    isLooking = false;
  };
}
