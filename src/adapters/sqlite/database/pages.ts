import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Returns all rows after the row `start`, page by page. `pageAfter` reads the next page after a row, and `idOf` returns
 * the number by which the rows are ordered. Other work runs on the thread after each page.
 */
export async function* pagesAfter<R>(
  start: number,
  pageAfter: (id: number) => readonly R[],
  idOf: (row: R) => number,
): AsyncGenerator<readonly R[]> {
  for (let last = start; ; ) {
    const page = pageAfter(last);
    const end = page.at(-1);
    if (end === undefined) return;
    yield page;
    last = idOf(end);
    await nextTurn();
  }
}
