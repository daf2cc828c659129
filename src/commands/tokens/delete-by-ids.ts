import { isExpired } from '../../domain/token/token-state.js';
import { tokenStream } from '../../events/tokens/stream-name.js';
import { chargeUnknownIds } from '../../vault/guesses.js';
import type { RequestContext } from '../../vault/request-context.js';
import { type CommandResult, done } from '../../vault/result.js';
import { tenantKeysOf } from '../../vault/tenant-keys.js';
import type { Vault } from '../../vault/vault.js';
import { type DeleteTokensDeps, deleteTokens } from './delete-tokens.js';

/** The number of rows that are in memory at the same time. Each row contains up to 512 KiB of ciphertext. */
const rowsAtOnce = 20;

/**
 * Deletes the tokens with these ids (docs/contract.md, "Delete many tokens" and "Guesses"). An id that occurs more than
 * once is counted once. Threat: a caller sends up to a thousand ids in one request, and learns from the counts in the
 * response which ids exist. The caller is therefore charged for unknown ids before anything is deleted.
 */
export async function deleteByIds(
  vault: DeleteTokensDeps & Pick<Vault, 'guesses'>,
  context: Pick<RequestContext, 'caller' | 'traceId'>,
  ids: readonly string[],
): Promise<CommandResult<{ readonly deleted: number; readonly refused: number; readonly remaining: 0 }>> {
  const { caller } = context;
  const { names } = await tenantKeysOf(vault, caller.tenantId);
  const streams = [...new Set(ids.map((id) => tokenStream(names, id)))];
  const unknown = await countUnknown(vault, caller.tenantId, streams);
  const refusal = await chargeUnknownIds(vault, caller, streams.length, unknown);
  if (refusal !== null) return refusal;
  const tokens = streams.map((stream) => ({ stream, revision: null }));
  const { deleted, refused } = await deleteTokens(vault, context, tokens);
  return done({ deleted, refused, remaining: 0 });
}

/**
 * Returns the number of unknown ids. If the deletion of a token returned 503, its id still counts as known, because a
 * retry finishes the erasure.
 */
async function countUnknown(
  { clock, rows: stored, unfinishedErasures }: Pick<Vault, 'clock' | 'rows' | 'unfinishedErasures'>,
  tenantId: string,
  streams: readonly string[],
): Promise<number> {
  let unknown = 0;
  for (let start = 0; start < streams.length; start += rowsAtOnce) {
    const some = streams.slice(start, start + rowsAtOnce).filter((stream) => !unfinishedErasures.has(tenantId, stream));
    const rows = await Promise.all(some.map((stream) => stored.get(stream)));
    // `deleteTokens` uses the same time, so a token that it deletes is not charged as unknown.
    const now = clock.now();
    unknown += rows.filter((row) => row?.state.life == null || isExpired(row.state.life, now)).length;
  }
  return unknown;
}
