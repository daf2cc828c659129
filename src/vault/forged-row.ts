export type ForgedWhat =
  /** The vault did not write this row. */
  | 'not_authentic'
  /** The vault wrote this row, but has since written a newer version. */
  | 'outdated';

/**
 * Identifies a row. The name is a keyed hash for a token or an idempotency claim, and the id for a tenant or an
 * application.
 */
export type RowName = { readonly of: 'token' | 'tenant' | 'application' | 'claim'; readonly name: string };

/**
 * Thrown for a row that was changed or put back by something other than the vault. The vault neither uses nor returns
 * any part of such a row. The request fails with 500, and the readiness check fails. Threat: without this, an attacker
 * that can write to the store could decide which callers can read which data.
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
