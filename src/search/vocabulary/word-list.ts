import lunr from 'lunr';
import { nearest } from '../../domain/nearest.js';
import { normalise } from '../terms/normalise.js';

/** Words in the spelling they came in, compared as search compares texts. */
export type WordList = {
  /** In characters, of all words: what the list takes of memory goes with it, 80-200 bytes each. */
  readonly size: number;
  has(word: string): boolean;
  /** Those that begin with a prefix, in their order, at most `max`. */
  complete(prefix: string, max: number): readonly string[];
  /** The word that is meant by one that may be mistyped, or undefined. Bounded work, about 10 ms of 10,000 words. */
  nearest(text: string): string | undefined;
};

/** The steps of making a list, a word each, so that the thread can serve others in between. */
export function* buildWordList(words: Iterable<string>): Generator<undefined, WordList> {
  const spellings = new Map<string, string>();
  for (const word of words) {
    const text = normalise(word);
    if (!spellings.has(text)) spellings.set(text, word);
    yield;
  }
  const texts = [...spellings.keys()].sort();
  const builder = new lunr.TokenSet.Builder();
  for (const text of texts) {
    builder.insert(text);
    yield;
  }
  builder.finish();
  const spelled = (text: string): string => spellings.get(text) ?? text;

  return {
    size: texts.reduce((sum, text) => sum + text.length, 0),
    has: (word) => spellings.has(normalise(word)),
    // Not by lunr, which collects every match before it can stop: 0.1 s for "/" among 10,000 words.
    complete(prefix, max) {
      const start = normalise(prefix);
      const from = firstFrom(texts, start);
      const found = texts.slice(from, from + max).filter((text) => text.startsWith(start));
      return found.map(spelled);
    },
    nearest(word) {
      const text = normalise(word);
      const same = spellings.get(text);
      if (same !== undefined) return same;
      for (const edits of editsAllowed(text)) {
        const near = builder.root.intersect(lunr.TokenSet.fromFuzzyString(text, edits)).toArray();
        const found = nearest(text, near.slice(0, rankedMax));
        if (found !== undefined) return spelled(found);
      }
      return undefined;
    },
  };
}

/** A list of few words, made at once. */
export function wordList(words: readonly string[]): WordList {
  const steps = buildWordList(words);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

const rankedMax = 100;
/** To lunr it is any character: `****` would be near to everything. At the end of a container it does no harm. */
const starInside = /\*./s;

/**
 * How many edits are tried, fewest first. Threat: the time of a fuzzy match grows with the length to the power of the
 * edits, and far more with words that repeat themselves: two edits of 64 characters can take half a second.
 */
function editsAllowed(text: string): readonly number[] {
  if (text.length < 3 || text.length > 64 || starInside.test(text)) return [];
  return text.length < 6 || text.length > 24 ? [1] : [1, 2];
}

/** The index of the first text that does not come before `start`. */
function firstFrom(texts: readonly string[], start: string): number {
  let from = 0;
  let to = texts.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((texts[middle] ?? '') < start) from = middle + 1;
    else to = middle;
  }
  return from;
}
