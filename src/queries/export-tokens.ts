import { maySeeClear, transformFor } from '../domain/access/decide-access.js';
import { reachOf } from '../domain/access/reach.js';
import type { JsonObject } from '../domain/json.js';
import { formatTimestamp } from '../domain/time.js';
import type { SearchKey } from '../keys/key-ring.js';
import type { SearchPlan } from '../ports/search-plan.js';
import { planSearch } from '../search/plan-search.js';
import { withSearchKey } from '../vault/tenant-keys.js';
import { unwrap } from '../vault/unwrap.js';
import type { Vault } from '../vault/vault.js';
import { type ReadToken, readToken } from './read-token.js';
import { type ReadContext, release } from './release.js';

export type ExportStep = {
  /**
   * One create request for each token. It contains all of the token except the cvc and the fields that only the vault
   * sets.
   */
  readonly requests: readonly JsonObject[];
  /** The number of tokens that are left out because the caller may not read them in plaintext. */
  readonly masked: number;
  /** The value of `before` for the next step. Null after the last step. */
  readonly next: number | null;
};

/**
 * Returns one step of an export: tokens that the caller may read in plaintext, newest first. If each step continues at
 * `next`, the export contains every token that exists throughout the export exactly once, in the state that it had when
 * its step was read. It contains no token that is created after the export began. Records each token as revealed.
 * Throws KeyLost.
 */
export async function exportTokens(
  vault: Vault,
  context: ReadContext,
  before: number | null,
  limit: number,
): Promise<ExportStep> {
  const { caller } = context;
  const { tenantId } = caller;
  const step = { now: vault.clock.now(), before, limit };
  // `before` is a log position, so a step continues where the previous step ended even if it reads another generation
  // of rows.
  const rows = await withSearchKey(vault, tenantId, (key) => vault.rows.walk(planOf(key, caller), step));
  const read = await Promise.all(
    rows.map(async ({ stream, state }) => {
      const token = await readToken(vault, tenantId, stream);
      // If the token was deleted and its id was reused, `token` is in a later life and does not belong to this step.
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

/** Returns how many tokens the caller may currently read. */
export async function countForExport(vault: Vault, { caller }: Pick<ReadContext, 'caller'>): Promise<number> {
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
    ...{ id, type, data, containers, fingerprint_expression },
    ...(mask === null ? {} : { mask }),
    ...(metadata === null ? {} : { metadata }),
    ...(search_indexes === null ? {} : { search_indexes }),
    ...(life.expiresAt === null ? {} : { expires_at: formatTimestamp(life.expiresAt) }),
    // Two tokens with equal values must remain two tokens after an import, whatever the deduplication setting of the
    // importing tenant is.
    deduplicate_token: false,
  };
}
