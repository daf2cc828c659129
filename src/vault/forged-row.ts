export type ForgedWhat =
  /** The vault did not write the row in this form. */
  | 'not_authentic'
  /** The vault wrote the row, and has written a newer one since. */
  | 'outdated';

/** A row: of a token or an idempotency key, named by a keyed hash; of a tenant or an application, named by its id. */
export type RowName = { readonly of: 'token' | 'tenant' | 'application' | 'claim'; readonly name: string };

/**
 * A row that something other than the vault changed or put back. The vault neither uses nor returns any of it: the
 * request fails with 500, and readiness fails. Threat: an attacker that can write to the store would decide which
 * caller reads which data.
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
