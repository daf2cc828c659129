import { atMost } from '../domain/at-most.js';
import type { ForgedWhat, RowName } from '../vault/forged-row.js';
import { loadToken } from '../vault/load-token.js';
import type { Vault } from '../vault/vault.js';
import type { DirectoryRecord } from '../views/directory-view.js';
import type { TokenView } from '../views/token-view.js';

/**
 * The number of token rows per page. Each row contains up to 512 KiB of ciphertext, and all rows of a page are in
 * memory at the same time.
 */
const pageSize = 100;
const lanes = 16;
const claimsPageSize = 1_000;

export type FoundRow = { readonly row: RowName; readonly what: ForgedWhat };

/**
 * The result of one step of a check. `next` is the value of `after` for the next step. It is null after the last step.
 */
export type CheckedRows = {
  readonly rows: number;
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
  // Checks again, because a change may have been in progress during the first check.
  const problems = suspected ? (await look()).flatMap(({ record, problem }) => asFound(record, problem)) : [];
  return { rows: first.length, problems };
}

function asFound({ kind: of, id: name }: DirectoryRecord, what: ForgedWhat | null): readonly FoundRow[] {
  return what === null ? [] : [{ row: { of, name }, what }];
}

/**
 * Verifies the MACs of a page of token rows, and checks that no row was replaced with an older version. The rows are
 * sorted by stream, and start after the stream `after`. Does not check whether rows of deleted tenants are outdated,
 * because those rows cannot be decrypted anyway.
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
  return { rows: page.length, problems: found.flat(), next };
}

/**
 * Verifies the MACs of a page of idempotency claims. The claims are sorted by hash, and start after the hash `after`.
 */
export async function checkClaims({ claims }: Pick<Vault, 'claims'>, after: string): Promise<CheckedRows> {
  const page = await claims.page(after, claimsPageSize);
  const problems = page.flatMap(({ cmd, claim }): readonly FoundRow[] =>
    claim === null ? [{ row: { of: 'claim', name: cmd }, what: 'not_authentic' }] : [],
  );
  const next = page.length < claimsPageSize ? null : (page.at(-1)?.cmd ?? null);
  return { rows: page.length, problems, next };
}

async function problemOf(vault: Vault, view: TokenView): Promise<'outdated' | null> {
  if (!(await isOutdated(vault, view))) return null;
  // Checks again, because the token may have changed after its row was read and before its key was read.
  const now = await vault.rows.get(view.stream);
  return now !== null && (await isOutdated(vault, now)) ? 'outdated' : null;
}

/**
 * Returns true if a row is older than its stream. A lost key does not make a row outdated; other checks report lost
 * keys.
 */
async function isOutdated(vault: Vault, { tenantId, stream, state: { life, revision } }: TokenView): Promise<boolean> {
  if (life === null) return false;
  const used = await vault.keys.use(tenantId, life.key, () => null);
  if (used.state === 'open') return revision < (used.revision ?? -1);
  return used.state === 'destroyed' && revision < (await loadToken(vault, tenantId, stream)).state.revision;
}
