import { z } from 'zod';
import { recordAccessLogRead } from '../../audit/access-log/record-for-all-tenants.js';
import { expectContinuity } from '../../audit/continuity.js';
import type { JsonObject } from '../../domain/json.js';
import { type Checkpoint, checkpointStream, readCheckpointEvent } from '../../events/audit/checkpoint.js';
import type { ClearEvent } from '../../events/event.js';
import { UnreadableEvent } from '../../events/read-clear.js';
import { ForgedLog, type StoredLog } from '../../ports/event-log.js';
import { logBehind } from '../../vault/log-behind.js';
import { logIdentity } from '../../vault/open-log.js';
import type { Vault } from '../../vault/vault.js';
import { OperationFailed, operation } from '../operations/operation.js';

export type AuditBegin = {
  /** The log's id, or null if the event that contains it is missing from the log. */
  readonly log_id: string | null;
  readonly public_key: string;
  /** The position of the newest event that has a link in the hash chain, and the number of commits up to that event. */
  readonly head: { readonly position: number; readonly count: number };
  /**
   * The newest checkpoint before the requested position, as JSON, including its time. Null if no checkpoint precedes
   * that position.
   */
  readonly from: JsonObject | null;
  /**
   * True if the key store has recorded events after the head. In this case, the log was truncated or is an older copy.
   */
  readonly is_behind: boolean;
  /** A description of how the log differs from the key store's record of the log, or null if the two match. */
  readonly forged: string | null;
  readonly chains: readonly string[];
  /** For each access log chain, the last sequence number covered by the checkpoint `from` or an earlier checkpoint. */
  readonly signed_before: readonly { readonly chain: string; readonly sequence: number }[];
  /** A message about the tenants whose access log could not record the export, or null if there are none. */
  readonly unrecorded: string | null;
};

/**
 * Returns the data with which a verification or export of the log begins. `from` is the position of the first requested
 * event. If `exports` is true, records that an operator reads the access log.
 */
export const auditBegin = operation(
  z.object({ from: z.int().min(1), exports: z.boolean() }),
  async ({ vault }, { from, exports }): Promise<AuditBegin> => {
    // Reads the stored log without checking MACs. Forged events must not cause an error here, because the verification
    // reports them later.
    const { storedLog: log, chain, keys, accessLog, recorder } = vault;
    const unrecorded = exports ? await recordAccessLogRead(vault, null) : null;
    await recorder.now([]);
    const forged = await forgeryIn(vault);
    const head = await chain.head();
    if (head === null) throw new OperationFailed('the log is empty.');
    if (from > head.position) {
      throw new OperationFailed(`position ${from} is after the end of the log (position ${head.position}).`);
    }
    const { publicKey } = await keys.signingKey();
    const identity = await logIdentity(log);
    return {
      log_id: identity?.logId ?? null,
      public_key: publicKey,
      head: { position: head.position, count: head.count },
      is_behind: (await logBehind(vault)) !== null,
      forged,
      ...(await signedBefore(log, from)),
      chains: await accessLog.chains(),
      unrecorded,
    };
  },
);

async function forgeryIn(vault: Pick<Vault, 'chain' | 'keys' | 'log'>): Promise<string | null> {
  try {
    await expectContinuity(vault);
    return null;
  } catch (error) {
    if (error instanceof ForgedLog) return error.what;
    if (error instanceof UnreadableEvent) return error.message;
    throw error;
  }
}

async function signedBefore(
  log: Pick<StoredLog, 'readNewest'>,
  position: number,
): Promise<Pick<AuditBegin, 'from' | 'signed_before'>> {
  let from: JsonObject | null = null;
  const signed = new Map<string, number>();
  for (let before: number | null = null; position > 1 && before !== 0; ) {
    const page = await log.readNewest(checkpointStream, before, 100);
    for (const event of page) {
      if (Number(event.clear['position']) >= position) continue;
      // Older checkpoints are needed only for the ends of the chains, so a damaged one is skipped here. A verification
      // of that part of the log reports the damage.
      const checkpoint: Checkpoint | null = from === null ? readCheckpointEvent(event) : readable(event);
      if (checkpoint === null) continue;
      from ??= { ...checkpoint };
      // Checkpoints are read newest first, so the first entry for a chain is the newest.
      for (const { chain, sequence } of checkpoint.access) if (!signed.has(chain)) signed.set(chain, sequence);
    }
    before = page.at(-1)?.revision ?? 0;
  }
  return { from, signed_before: [...signed].map(([chain, sequence]) => ({ chain, sequence })) };
}

function readable(event: ClearEvent): Checkpoint | null {
  try {
    return readCheckpointEvent(event);
  } catch {
    return null;
  }
}
