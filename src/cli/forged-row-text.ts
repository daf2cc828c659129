import type { FoundRow } from '../audit/check-rows.js';
import { firstOf } from '../domain/text.js';
import { ForgedRow } from '../vault/forged-row.js';

/** What to do about rows that are not authentic or not the newest version. */
export const forgedRowsAdvice =
  'Find out who can write to the store of the rows. Then run `strongroom projections rebuild` for `directory` or ' +
  '`tokens`. If a row is still an older version after that, restore the newest backup. A claim needs neither: only ' +
  'retries of its request fail until it is deleted, normally a day after the request.';

/**
 * Returns a message for the operator about a directory row that is not authentic or not the newest version. `store` is
 * the name of the store that contains the row.
 */
export function forgedDirectoryText({ row, what }: ForgedRow, store: string): string {
  const place = `the row of ${row.of} ${row.name} in ${store}`;
  // A read repairs an older row from the log. If the row is still older, a rebuild would not help either.
  if (what === 'outdated') {
    return (
      `${place} is older than the version that the key store recorded, and the log has no newer version. Find ` +
      'out who can write to the stores. Then restore the newest backup.'
    );
  }
  return (
    `${place} is not authentic: another program changed it. Find out who can write to the stores. Then run ` +
    '`strongroom projections rebuild directory`, and start again.'
  );
}

/** Describes the first few rows, and states how many more there are. */
export function forgedText(found: readonly FoundRow[]): string {
  return firstOf(found.map(({ row, what }) => new ForgedRow(row, what).message));
}
