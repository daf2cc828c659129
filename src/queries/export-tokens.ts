import { maySeeClear, transformFor } from '../domain/access/decide-access.js';
import { reachOf } from '../domain/access/reach.js';
import type { JsonObject } from '../domain/json.js';
import { formatTimestamp } from '../domain/time.js';
import type { SearchKey } from '../keys/key-ring.js';
import type { SearchPlan } from '../ports/search-plan.js';
import { planSearch } from '../search/plan-search.js';
import { type SearchKeyDeps, withSearchKey } from '../vault/tenant-keys.js';
import { unwrap } from '../vault/unwrap.js';
import type { Vault } from '../vault/vault.js';
import { type ReadToken, type ReadTokenDeps, readToken } from './read-token.js';
import { type ReadContext, type ReleaseDeps, release } from './release.js';

export type ExportStep = {
  /**
   * One create request per token. A request contains the whole token, except the cvc and the fields that only the vault
   * can set.
   */
  readonly requests: readonly JsonObject[];
  /** The number of tokens that the caller may read, but not in plaintext. These tokens are not part of the export. */
  readonly masked: number;
  /** The value of `before` for the next step. Null if this is the last step. */
  readonly next: number | null;
};

/**
 * Returns one step of an export. A step contains tokens that the caller may read in plaintext, newest first. If each
 * step continues at the `next` of the previous step, the export contains every token that exists during the whole
 * export. Each token appears exactly once, in the state that it had when its step was read. The export contains no
 * token that was created after it began. Records each token as revealed. Throws KeyLost.
 */
export async function exportTokens(
  vault: ReadTokenDeps & ReleaseDeps & Pick<Vault, 'generations'>,
  context: ReadContext,
  before: number | null,
  limit: number,
): Promise<ExportStep> {
  const { caller } = context;
  const { tenantId } = caller;
  const step = { now: vault.clock.now(), before, limit };
  // `before` is a log position. A step therefore continues where the previous step ended, even if it reads a different
  // generation of rows.
  const rows = await withSearchKey(vault, tenantId, (key) => vault.rows.walk(planOf(key, caller), step));
  const read = await Promise.all(
    rows.map(async ({ stream, state }) => {
      const token = await readToken(vault, tenantId, stream);
      // If the token was deleted and its id was used again, `token` is a different token, which does not belong to this
      // step.
      return token?.life.createdPosition === state.life?.createdPosition ? token : null;
    }),
  );
  const readable = read.filter(
    (token) => token !== null && transformFor(caller, 'token:read', containersOf(token)) !== null,
  );
  const shown = readable.flatMap((token) =>
    token !== null && maySeeClear(caller, containersOf(token)) ? [token] : [],
  );
  await release(
    vault,
    context,
    shown.map(({ view }) => ({ stream: view.stream, transform: 'reveal', recordedAs: 'read' })),
  );
  const next = rows.length < limit ? null : (rows.at(-1)?.state.life?.createdPosition ?? null);
  return { requests: shown.map(requestOf), masked: readable.length - shown.length, next };
}

/** Returns the number of tokens that the caller can currently read. */
export async function countForExport(
  vault: SearchKeyDeps & Pick<Vault, 'clock' | 'rows'>,
  { caller }: Pick<ReadContext, 'caller'>,
): Promise<number> {
  const page = { now: vault.clock.now(), offset: 0, limit: 1 };
  const { total } = await withSearchKey(vault, caller.tenantId, (key) => vault.rows.search(planOf(key, caller), page));
  return total;
}

function planOf(searchKey: SearchKey, caller: ReadContext['caller']): SearchPlan {
  return planSearch(searchKey, caller.tenantId, { is: 'everything' }, reachOf(caller, 'token:read'));
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
