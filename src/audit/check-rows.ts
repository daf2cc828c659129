import { atMost } from '../domain/at-most.js';
import type { ForgedWhat, RowName } from '../vault/forged-row.js';
import { loadToken } from '../vault/load-token.js';
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
 * Changes nothing.
 */
export async function checkDirectory({ directory }: Pick<Vault, 'directory'>): Promise<Omit<CheckedRows, 'next'>> {
  const look = async () => [...(await directory.check('tenant')), ...(await directory.check('application'))];
  const first = await look();
  const suspected = first.some(({ problem }) => problem !== null);
  // Checks again before reporting problems, because a change that was in progress during the first check can look like
  // a problem.
  const problems = suspected ? (await look()).flatMap(({ record, problem }) => asFound(record, problem)) : [];
  return { rows: first.length, live: 0, problems };
}

function asFound({ kind: of, id: name }: DirectoryRecord, what: ForgedWhat | null): readonly FoundRow[] {
  return what === null ? [] : [{ row: { of, name }, what }];
}

/**
 * Verifies the MACs in one page of token rows, and checks that no row was replaced with an older version. The page
 * begins after the stream `after`, and its rows are sorted by stream. The rows of deleted tenants are not checked for
 * older versions, because these rows can no longer be decrypted.
 */
export async function checkTokenRows(vault: Vault, after: string): Promise<CheckedRows> {
  const page = await vault.rows.page(after, pageSize);
  const gone = new Set<string>();
  for (const { record } of await vault.directory.check('tenant')) if (record.removedAt !== null) gone.add(record.id);
  const found = await atMost(lanes, page, async ({ stream, view }): Promise<readonly FoundRow[]> => {
    const what = view === null ? 'not_authentic' : gone.has(view.tenantId) ? null : await problemOf(vault, view);
    return what === null ? [] : [{ row: { of: 'token', name: stream }, what }];
  });
  const next = page.length < pageSize ? null : (page.at(-1)?.stream ?? null);
  const live = page.filter(({ view }) => view !== null && view.state.life !== null && !gone.has(view.tenantId)).length;
  return { rows: page.length, live, problems: found.flat(), next };
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

async function problemOf(vault: Vault, view: TokenView): Promise<'outdated' | null> {
  if (!(await isOutdated(vault, view))) return null;
  // Checks again, because the token may have changed between reading its row and reading its key.
  const now = await vault.rows.get(view.stream);
  return now !== null && (await isOutdated(vault, now)) ? 'outdated' : null;
}

/**
 * Returns true if the token's row is older than the newest event in the token's stream. A row whose key is lost does
 * not count as outdated. Other checks report lost keys.
 */
async function isOutdated(vault: Vault, { tenantId, stream, state: { life, revision } }: TokenView): Promise<boolean> {
  if (life === null) return false;
  const used = await vault.keys.use(tenantId, life.key, () => null);
  if (used.state === 'open') return revision < (used.revision ?? -1);
  return used.state === 'destroyed' && revision < (await loadToken(vault, tenantId, stream)).state.revision;
}
