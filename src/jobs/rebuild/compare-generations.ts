import type { ComparedPage, RebuildThread, TwoGenerations } from '../../ports/rebuild-thread.js';

const pageSize = 500;
const looks = 3;
/** With so many nobody asks for the rest. */
const differentMax = 10_000;

/** `null`: it was told to stop. */
export type Compared = { readonly rows: number; readonly different: readonly string[] } | null;

/**
 * Compares every row of two generations. One that differs is looked at three times, each after the rebuild has caught up,
 * because writes go on. `goesOn` is asked between pages; `caughtUp` brings the new generation to the head of the log.
 */
export async function compareGenerations(
  thread: Pick<RebuildThread, 'compare'>,
  generations: TwoGenerations,
  caughtUp: () => Promise<void>,
  onPage: (rows: number) => Promise<boolean>,
): Promise<Compared> {
  let rows = 0;
  let different: string[] = [];
  for (let after: string | null = ''; after !== null && different.length < differentMax; ) {
    const page: ComparedPage = await thread.compare(generations, { after, limit: pageSize });
    rows += page.rows;
    different.push(...page.different);
    if (!(await onPage(page.rows))) return null;
    after = page.last;
  }
  for (let look = 1; look < looks && different.length > 0; look += 1) {
    await caughtUp();
    const still: string[] = [];
    for (let first = 0; first < different.length; first += pageSize) {
      const streams = different.slice(first, first + pageSize);
      still.push(...(await thread.compare(generations, { streams })).different);
      if (!(await onPage(0))) return null;
    }
    different = still;
  }
  return { rows, different };
}
