import { termBytes } from './entries.js';
import type { ChangeRow } from './index-statements.js';

type Posting = { readonly number: number; readonly seq: number };
/** The postings of a term that were added and removed, in the order of their changes. */
type OfTerm = { readonly added: Posting[]; readonly removed: Posting[] };

/** The changes that a search sees in the tail: additions after `merged` and removals after `erased`, up to `last`. */
export type TailRange = { readonly merged: number; readonly erased: number; readonly last: number };

export type Tail = ReturnType<typeof createTail>;

/**
 * Creates the index, in memory, of the changes that are not in the runs yet. It starts after the change with number
 * `start`. Searches that are still running may read it for an older state, so it only grows.
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
    /** Returns the number of the newest change that was added. */
    last: (): number => last,
    add(changes: readonly ChangeRow[]): void {
      for (const { number, seq, added, removed } of changes) {
        const posting = { number, seq };
        note(added, posting, 'added');
        note(removed, posting, 'removed');
        last = number;
      }
    },
    /** Returns the `seq` of the postings that a range adds to those in the runs, and removes from them. */
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
