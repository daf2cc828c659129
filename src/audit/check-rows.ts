import { setTimeout as wait } from 'node:timers/promises';
import { atMost } from '../domain/at-most.js';
import type { ForgedWhat, RowName } from '../vault/forged-row.js';
import type { Vault } from '../vault/vault.js';
import type { DirectoryRecord } from '../views/directory-view.js';
import type { TokenView } from '../views/token-view.js';

/**
 * The number of token rows per page. All rows of a page are in memory at the same time, and each row contains up to 512
 * KiB of ciphertext.
 */
const pageSize = 100;
const lanes = 16;
const claimsPageSize = 1_000;
/** The pause before a row is read for the last time, in ms. If it is still outdated then, it counts as outdated. */
const pauseMs = 200;

export type FoundRow = { readonly row: RowName; readonly what: ForgedWhat };

/**
 * The result of one step of a check. The caller passes `next` as `after` to the next step. After the last step, `next`
 * is null.
 */
export type CheckedRows = {
  readonly rows: number;
  /** How many of the rows belong to live tokens of tenants that were not deleted. */
  readonly live: number;
  readonly problems: readonly FoundRow[];
  readonly next: string | null;
};

/**
 * Verifies the MACs of all tenant and application rows, and checks that no row was replaced with an older version.
 * Also checks that each generation of token rows has a key. Changes nothing.
 */
export async function checkDirectory(
  vault: Pick<Vault, 'directory' | 'generations' | 'keys'>,
): Promise<Omit<CheckedRows, 'next'>> {
  const { directory } = vault;
  const look = async () => [...(await directory.check('tenant')), ...(await directory.check('application'))];
  const first = await look();
  const suspected = first.some(({ problem }) => problem !== null);
  // Checks again before reporting problems, because a change that was in progress during the first check can look like
  // a problem.
  const problems = suspected ? (await look()).flatMap(({ record, problem }) => asFound(record, problem)) : [];
  return { rows: first.length, live: 0, problems: [...problems, ...(await plantedGenerations(vault))] };
}

/**
 * Returns the generations that are written and have no key. The vault creates the key first, and destroys it last.
 * Threat: an attacker adds a generation, and no change can be stored.
 */
async function plantedGenerations({ generations, keys }: Pick<Vault, 'generations' | 'keys'>) {
  const { write } = await generations.inUse();
  const known = await keys.generations();
  return write
    .filter((generation) => !known.includes(generation))
    .map((generation): FoundRow => ({ row: { of: 'generation', name: `${generation}` }, what: 'not_authentic' }));
}

function asFound({ kind: of, id: name }: DirectoryRecord, what: ForgedWhat | null): readonly FoundRow[] {
  return what === null ? [] : [{ row: { of, name }, what }];
}

/**
 * Verifies the MACs in one page of token rows, and checks that no row was replaced with an older version. The page
 * begins after the stream `after`, and its rows are sorted by stream. The rows of deleted tenants are not checked for
 * older versions, because these rows can no longer be decrypted.
 */
export async function checkTokenRows(
  vault: Pick<Vault, 'directory' | 'keys' | 'rows' | 'storedLog'>,
  after: string,
): Promise<CheckedRows> {
  const page = await vault.rows.page(after, pageSize);
  const gone = await deletedTenantsOf(vault, page);
  const found = await atMost(lanes, page, async ({ stream, view }): Promise<readonly FoundRow[]> => {
    const what = view === null ? 'not_authentic' : gone.has(view.tenantId) ? null : await problemOf(vault, view);
    return what === null ? [] : [{ row: { of: 'token', name: stream }, what }];
  });
  const next = page.length < pageSize ? null : (page.at(-1)?.stream ?? null);
  const live = page.filter(({ view }) => view !== null && view.state.life !== null && !gone.has(view.tenantId)).length;
  return { rows: page.length, live, problems: found.flat(), next };
}

/** Returns the tenants of these rows that were deleted. `checkDirectory` reports a forged tenant. */
async function deletedTenantsOf(
  { directory }: Pick<Vault, 'directory'>,
  page: Awaited<ReturnType<Vault['rows']['page']>>,
): Promise<ReadonlySet<string>> {
  const tenants = new Set(page.flatMap(({ view }) => (view === null ? [] : [view.tenantId])));
  const records = await atMost(lanes, [...tenants], (id) => directory.unverified('tenant', id));
  return new Set(records.flatMap((record) => (record === null || record.removedAt === null ? [] : [record.id])));
}

/**
 * Verifies the MACs in one page of idempotency claims. The page begins after the hash `after`, and its claims are
 * sorted by hash.
 */
export async function checkClaims({ claims }: Pick<Vault, 'claims'>, after: string): Promise<CheckedRows> {
  const page = await claims.page(after, claimsPageSize);
  const problems = page.flatMap(({ cmd, claim }): readonly FoundRow[] =>
    claim === null ? [{ row: { of: 'claim', name: cmd }, what: 'not_authentic' }] : [],
  );
  const next = page.length < claimsPageSize ? null : (page.at(-1)?.cmd ?? null);
  return { rows: page.length, live: 0, problems, next };
}

/**
 * Returns `outdated` if the token's row is older than the newest event in the token's stream, or than the revision that
 * the key store recorded. Threat: an attacker puts back the row and the key of a deleted token. A row whose key is lost
 * does not count as outdated. Other checks report lost keys.
 */
async function problemOf(
  vault: Pick<Vault, 'keys' | 'rows' | 'storedLog'>,
  view: TokenView,
): Promise<'outdated' | null> {
  const { tenantId, stream, state } = view;
  if (state.life === null) return null;
  const used = await vault.keys.use(tenantId, state.life.key, () => null);
  if (used.state === 'missing') return null;
  // Does not verify the MAC of the event. Threat: an attacker changes one event, so that the check of all rows ends.
  // The checks of the log report such an event.
  const [newest] = await vault.storedLog.readNewest(stream, null, 1);
  const least = Math.max(newest?.revision ?? -1, used.state === 'open' ? (used.revision ?? -1) : -1);
  const isOutdated = (row: TokenView | null) => row !== null && row.state.life !== null && row.state.revision < least;
  if (!isOutdated(view)) return null;
  // Reads the row again, because the token may have changed since.
  if (!isOutdated(await vault.rows.get(stream))) return null;
  // In the cluster profile, a row is written shortly after its event.
  await wait(pauseMs);
  return isOutdated(await vault.rows.get(stream)) ? 'outdated' : null;
}
