import type { ShownToken } from '../audit/access-log/record-reads.js';
import { maySeeClear, transformFor } from '../domain/access/decide-access.js';
import { reachOf } from '../domain/access/reach.js';
import type { JsonObject } from '../domain/json.js';
import { Secret } from '../domain/secret.js';
import { formatTimestamp } from '../domain/time.js';
import type { SearchKey } from '../ports/key-ring.js';
import type { SearchPlan } from '../ports/search-plan.js';
import { planSearch } from '../search/plan-search.js';
import type { CommandContext } from '../vault/command-context.js';
import { withSearchKey } from '../vault/tenant-keys.js';
import type { Vault } from '../vault/vault.js';
import { type ReadToken, readToken } from './read-token.js';

/** A token as a create request: all of it except the cvc and the fields that only the vault sets. */
export type ExportedToken = ShownToken & { readonly request: Secret<JsonObject> };

export type ExportStep = {
  readonly tokens: readonly ExportedToken[];
  /** Tokens of this step that the caller may read, but not in plaintext: they are left out. */
  readonly masked: number;
  /** Where the next step continues; null: this was the last. */
  readonly next: number | null;
};

type Caller = Pick<CommandContext, 'caller'>;

/**
 * One step of an export: tokens that the caller may read and see in clear, the later created first. Steps that each go on
 * from `next` meet every token that lives throughout exactly once, as it was at some instant in between. What was created
 * meanwhile is in none of them. Throws KeyLost.
 */
export async function exportTokens(
  vault: Vault,
  { caller }: Caller,
  before: number | null,
  limit: number,
): Promise<ExportStep> {
  const { tenantId } = caller;
  const step = { now: vault.clock.now(), before, limit };
  // A step continues where the previous one ended, whichever generation of rows that one read.
  const rows = await withSearchKey(vault, tenantId, (key) => vault.rows.walk(planOf(key, caller), step));
  const read = await Promise.all(
    rows.map(async ({ stream, state }) => {
      const token = await readToken(vault, tenantId, stream);
      // It was deleted and its id used again: that is a later token.
      return token?.life.createdPosition === state.life?.createdPosition ? token : null;
    }),
  );
  const readable = read.filter(
    (token) => token !== null && transformFor(caller, 'token:read', containersOf(token)) !== null,
  );
  const clear = readable.flatMap((token) =>
    token !== null && maySeeClear(caller, containersOf(token)) ? [exported(token)] : [],
  );
  const next = rows.length < limit ? null : (rows.at(-1)?.state.life?.createdPosition ?? null);
  return { tokens: clear, masked: readable.length - clear.length, next };
}

/** Returns how many tokens the caller may read now. */
export async function countForExport(vault: Vault, { caller }: Caller): Promise<number> {
  const page = { now: vault.clock.now(), offset: 0, limit: 1 };
  const { total } = await withSearchKey(vault, caller.tenantId, (key) => vault.rows.search(planOf(key, caller), page));
  return total;
}

function planOf(searchKey: SearchKey, caller: Caller['caller']): SearchPlan {
  return planSearch(searchKey, caller.tenantId, { is: 'everything' }, reachOf(caller, 'token:read'));
}

function containersOf({ open }: ReadToken): readonly string[] {
  return open.content.reveal().containers;
}

function exported({ view, life, open }: ReadToken): ExportedToken {
  const { id, type, data, mask, containers, metadata, search_indexes, fingerprint_expression } = open.content.reveal();
  const request: JsonObject = {
    ...{ id, type, data, containers, fingerprint_expression },
    ...(mask === null ? {} : { mask }),
    ...(metadata === null ? {} : { metadata }),
    ...(search_indexes === null ? {} : { search_indexes }),
    ...(life.expiresAt === null ? {} : { expires_at: formatTimestamp(life.expiresAt) }),
    // Two equal tokens here must stay two after an import, whatever the setting there.
    deduplicate_token: false,
  };
  return { stream: view.stream, transform: 'reveal', request: new Secret(request) };
}
