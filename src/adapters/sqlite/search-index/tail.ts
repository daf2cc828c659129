import { termBytes } from './entries.js';
import { type ChangeRow, expectSuccession } from './index-statements.js';

type Posting = { readonly number: number; readonly seq: number };
/** The postings of one term that changes have added and removed, in the order of the changes. */
type OfTerm = { readonly added: Posting[]; readonly removed: Posting[] };

/**
 * The changes in the tail seen by a search: the additions after change `merged` and the removals after change `erased`,
 * both up to change `last`.
 */
type TailRange = { readonly merged: number; readonly erased: number; readonly last: number };

export type Tail = ReturnType<typeof createTail>;

/**
 * Creates an in-memory index of the changes that are not yet in the runs. The index begins after change number `start`.
 * Changes are only ever added to it, because a running search may still read an older state.
 */
export function createTail(start: number) {
  const terms = new Map<string, OfTerm>();
  let last = start;

  function ofTerm(name: string): OfTerm {
    const known = terms.get(name);
    if (known !== undefined) return known;
    const made: OfTerm = { added: [], removed: [] };
    terms.set(name, made);
    return made;
  }

  function note(packed: Buffer | null, posting: Posting, kind: keyof OfTerm): void {
    if (packed === null) return;
    for (let at = 0; at < packed.length; at += termBytes) {
      ofTerm(packed.toString('latin1', at, at + termBytes))[kind].push(posting);
    }
  }

  return {
    start,
    /** Returns the number of the newest change in the tail. */
    last: (): number => last,
    add(changes: readonly ChangeRow[]): void {
      expectSuccession(changes, last);
      for (const { number, seq, added, removed } of changes) {
        const posting = { number, seq };
        note(added, posting, 'added');
        note(removed, posting, 'removed');
        last = number;
      }
    },
    /** Returns the `seq` values added to a term and those removed from it by the changes in a range. */
    of(
      term: Buffer,
      { merged, erased, last: upTo }: TailRange,
    ): { readonly added: number[]; readonly removed: number[] } {
      const found = terms.get(term.toString('latin1', 0, termBytes));
      if (found === undefined) return { added: [], removed: [] };
      return { added: seqsIn(found.added, merged, upTo), removed: seqsIn(found.removed, erased, upTo) };
    },
  };
}

function seqsIn(postings: readonly Posting[], after: number, upTo: number): number[] {
  const seqs: number[] = [];
  for (const { number, seq } of postings) if (number > after && number <= upTo) seqs.push(seq);
  return seqs;
}
