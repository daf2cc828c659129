export type ForgedWhat =
  /** The vault did not write this version of the row. */
  | 'not_authentic'
  /** The vault wrote this version of the row, but has since written a newer version. */
  | 'outdated';

/**
 * Identifies a row. For a token or an idempotency claim, the name is a keyed hash. For a tenant or an application, the
 * name is its id. For a generation of token rows, the name is its number.
 */
export type RowName = {
  readonly of: 'token' | 'tenant' | 'application' | 'claim' | 'generation';
  readonly name: string;
};

/**
 * Thrown if something other than the vault changed a row or restored an older version of it. The vault neither uses nor
 * returns any part of such a row. The request fails with 500, and the readiness check fails. Threat: an attacker who
 * can write to the store decides which callers can read which data.
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
