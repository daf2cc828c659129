import { setImmediate as nextTurn } from 'node:timers/promises';
import { maySeeClear, transformFor } from '../domain/access/decide-access.js';
import { reachOf } from '../domain/access/reach.js';
import type { JsonObject } from '../domain/json.js';
import { formatTimestamp } from '../domain/time.js';
import { isExpired } from '../domain/token/token-state.js';
import type { SearchTermKey } from '../keys/key-ring.js';
import { latestNow } from '../ports/clock.js';
import type { SearchPlan } from '../ports/search-plan.js';
import { planSearch } from '../search/plan-search.js';
import { KeyLost } from '../vault/key-lost.js';
import { type SearchTermKeyDeps, withSearchTermKey } from '../vault/tenant-keys.js';
import { unwrap } from '../vault/unwrap.js';
import type { Vault } from '../vault/vault.js';
import { type ReadToken, type ReadTokenDeps, readToken } from './read-token.js';
import { type ReadContext, type ReleaseDeps, release } from './release.js';

/**
 * The number of tokens in the first read of a step. Each read has twice as many tokens as the one before it, up to
 * `readSizeMax`. No other request runs during a read, and a token can have 512 KiB.
 */
const readSizeFirst = 4;
const readSizeMax = 16;
/**
 * A step ends with the read that brings the total size of the step's ciphertexts to at least this many bytes. A step is
 * encoded and sent without a pause.
 */
const stepBytes = 1024 * 1024;

export type ExportStep = {
  /**
   * One create request per token. A request contains the whole token, except the cvc and the fields that only the vault
   * can set.
   */
  readonly requests: readonly JsonObject[];
  /** The number of tokens that the caller may read, but not in plaintext. These tokens are not part of the export. */
  readonly masked: number;
  /** The streams of the tokens whose keys are lost. These tokens are not part of the export. */
  readonly lost: readonly string[];
  /** The value of `before` for the next step. Null if this is the last step. */
  readonly next: number | null;
};

/**
 * Returns one step of an export, with at most `limit` tokens, or fewer if they are large. A step contains tokens that
 * the caller may read in plaintext, newest first. If each step continues at the `next` of the previous step, the export
 * contains every token that exists during the whole export. Each token appears exactly once, in the state that it had
 * when its step was read. The export contains no token that was created after it began. Records each token as revealed.
 */
export async function exportTokens(
  vault: ReadTokenDeps & ReleaseDeps & Pick<Vault, 'generations' | 'reportDamage'>,
  context: ReadContext,
  before: number | null,
  limit: number,
): Promise<ExportStep> {
  const { caller } = context;
  const { tenantId } = caller;
  const now = vault.clock.now();
  const shown: ReadToken[] = [];
  const lost: string[] = [];
  let next = before;
  let found = 0;
  let masked = 0;
  let sizeBytes = 0;
  for (let size = Math.min(readSizeFirst, limit); ; size = Math.min(2 * size, readSizeMax, limit - found)) {
    const walked = { now, before: next, limit: size };
    // `before` is a log position. A step therefore continues where the previous step ended, even if it reads a
    // different generation of rows.
    const rows = await withSearchTermKey(vault, tenantId, (key) => vault.rows.walk(planOf(key, caller), walked));
    const read = await Promise.all(
      rows.map(async ({ stream, state }) => {
        const token = await readUnlessLost(vault, tenantId, stream, lost);
        // If the token was deleted and its id was used again, `token` is a different token, which does not belong to
        // this step.
        return token?.life.createdPosition === state.life?.createdPosition ? token : null;
      }),
    );
    for (const token of read) {
      if (token === null || transformFor(caller, 'token:read', containersOf(token)) === null) continue;
      sizeBytes += token.view.content?.length ?? 0;
      if (maySeeClear(caller, containersOf(token))) shown.push(token);
      else masked += 1;
    }
    found += rows.length;
    next = rows.length < size ? null : (rows.at(-1)?.state.life?.createdPosition ?? null);
    if (next === null || found >= limit || sizeBytes >= stepBytes) break;
    await nextTurn();
  }
  await release(
    vault,
    context,
    shown.map(({ view }) => ({ stream: view.stream, transform: 'reveal', recordedAs: 'read' })),
  );
  // A token may have expired while its read was being recorded.
  const living = shown.filter(({ life }) => !isExpired(life, latestNow(vault.clock)));
  return { requests: living.map(requestOf), masked, lost, next };
}

/** Reads a token. If its key is lost, reports the damage, adds the token's stream to `lost`, and returns null. */
async function readUnlessLost(
  vault: ReadTokenDeps & Pick<Vault, 'reportDamage'>,
  tenantId: string,
  stream: string,
  lost: string[],
): Promise<ReadToken | null> {
  try {
    return await readToken(vault, tenantId, stream);
  } catch (error) {
    if (!(error instanceof KeyLost)) throw error;
    vault.reportDamage(error);
    lost.push(stream);
    return null;
  }
}

/** Returns the number of tokens that the caller can currently read. */
export async function countForExport(
  vault: SearchTermKeyDeps & Pick<Vault, 'clock' | 'rows'>,
  { caller }: Pick<ReadContext, 'caller'>,
): Promise<number> {
  const page = { now: vault.clock.now(), offset: 0, limit: 1 };
  const { total } = await withSearchTermKey(vault, caller.tenantId, (key) =>
    vault.rows.search(planOf(key, caller), page),
  );
  return total;
}

function planOf(searchKey: SearchTermKey, caller: ReadContext['caller']): SearchPlan {
  return planSearch(searchKey, caller.tenantId, { kind: 'everything' }, reachOf(caller, 'token:read'));
}

function containersOf({ open }: ReadToken): readonly string[] {
  return open.containers;
}

function requestOf({ life, open }: ReadToken): JsonObject {
  const { id, type, data, mask, containers, metadata, search_indexes, fingerprint_expression } = unwrap(open.content);
  return {
    id,
    type,
    data,
    containers,
    fingerprint_expression,
    ...(mask === null ? {} : { mask }),
    ...(metadata === null ? {} : { metadata }),
    ...(search_indexes === null ? {} : { search_indexes }),
    ...(life.expiresAt === null ? {} : { expires_at: formatTimestamp(life.expiresAt) }),
    // If two tokens have equal values, they must still be two tokens after an import, even if the importing tenant
    // deduplicates by default.
    deduplicate_token: false,
  };
}
