import type { ComparedPage, RebuildThread, TwoGenerations } from '../../ports/rebuild-thread.js';

const pageSize = 500;
const looks = 3;
/** The comparison stops when it has found this many differences. */
const differentMax = 10_000;

/**
 * Compares all rows of two generations, and returns the streams whose rows differ. Writes continue during the
 * comparison. A row therefore counts as different only if it still differs in two more comparisons. Before each of
 * these two comparisons, `caughtUp` brings the new generation up to the head of the log. The comparison stops after
 * 10,000 differences. After each page, the function calls `goesOn`. If `goesOn` returns false, the function stops and
 * returns null.
 */
export async function compareGenerations(
  thread: Pick<RebuildThread, 'compare'>,
  generations: TwoGenerations,
  caughtUp: () => Promise<void>,
  goesOn: () => Promise<boolean>,
): Promise<readonly string[] | null> {
  let different: string[] = [];
  for (let after: string | null = ''; after !== null && different.length < differentMax; ) {
    const page: ComparedPage = await thread.compare(generations, { after, limit: pageSize });
    different.push(...page.different);
    if (!(await goesOn())) return null;
    after = page.last;
  }
  for (let look = 1; look < looks && different.length > 0; look += 1) {
    await caughtUp();
    const still: string[] = [];
    for (let first = 0; first < different.length; first += pageSize) {
      const streams = different.slice(first, first + pageSize);
      still.push(...(await thread.compare(generations, { streams })).different);
      if (!(await goesOn())) return null;
    }
    different = still;
  }
  return different;
}
