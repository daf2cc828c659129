export type ForgedWhat =
  /** The vault did not write this row. */
  | 'not_authentic'
  /** The vault wrote this row, but has since written a newer version. */
  | 'outdated';

/**
 * The name of a row. For a token or an idempotency claim, it is a keyed hash; for a tenant or an application, its id.
 */
export type RowName = { readonly of: 'token' | 'tenant' | 'application' | 'claim'; readonly name: string };

/**
 * Thrown for a row that was changed or put back by something other than the vault. The vault neither uses nor returns
 * any part of such a row: the request fails with 500, and readiness fails. Threat: an attacker that can write to the
 * store would decide which caller reads which data.
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
