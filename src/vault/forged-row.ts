export type ForgedWhat =
  /** The vault did not write it, or not as it stands. */
  | 'not_authentic'
  /** The vault wrote it, and a newer one since. */
  | 'outdated';

/** A row of a token (named by its stream) or the claim of an idempotency key, named by keyed hashes; of a tenant or an application, named by its id. */
export type RowName = { readonly of: 'token' | 'tenant' | 'application' | 'claim'; readonly name: string };

/**
 * A row that someone else than the vault changed or put back. It decides nothing and nothing of it is shown: the request
 * fails with 500 and readiness fails. Threat: whoever can write to the store would decide who reads what.
 */
export class ForgedRow extends Error {
  readonly row: RowName;
  readonly what: ForgedWhat;

  constructor(row: RowName, what: ForgedWhat) {
    super(`the row of ${row.of} ${row.name} is ${what === 'outdated' ? 'an older version' : 'not authentic'}`);
    this.name = 'ForgedRow';
    this.row = row;
    this.what = what;
  }
}
