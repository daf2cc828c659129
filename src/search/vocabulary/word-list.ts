import lunr from 'lunr';
import { nearest } from '../../domain/nearest.js';
import { tokenTypes } from '../../domain/token/types/token-type.js';
import { normalise } from '../normalise.js';
import { dateFields, textFields } from '../query/syntax-tree.js';
import { selfAndAncestors } from '../terms.js';

/** A list of words. The list returns words in their original spelling, but compares them as search does. */
export type WordList = {
  /** The total number of characters in all words. The list takes up 80 to 200 bytes of memory per character. */
  readonly size: number;
  has(word: string): boolean;
  /** Returns at most `max` words that begin with a prefix, in sorted order. */
  complete(prefix: string, max: number): readonly string[];
  /**
   * Returns the word that is most similar to a mistyped word. Returns undefined if no word is similar enough. Takes at
   * most about 10 ms for 10,000 words.
   */
  nearest(text: string): string | undefined;
};

/** Builds a list in steps of one word each, so that the thread can do other work between steps. */
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
    // `complete` does not use lunr, because lunr collects all matches before it can stop. For the prefix "/" and 10,000
    // words, that takes 0.1 s.
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

/** Builds a list synchronously. Use this function only for a small number of words. */
export function wordList(words: readonly string[]): WordList {
  const steps = buildWordList(words);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

const rankedMax = 100;
/**
 * Matches a `*` before the end of a word. lunr treats `*` as a wildcard, so `****` would match every word. A `*` at the
 * end of a container does no harm.
 */
const starInside = /\*./s;

/**
 * Returns the numbers of edits to try, smallest first. Threat: a caller sends long or repetitive words to block the
 * process. The time for a fuzzy match grows with the word's length raised to the power of the number of edits. For
 * repetitive words, it grows much faster. With two edits, a word of 64 characters can take half a second.
 */
function editsAllowed(text: string): readonly number[] {
  if (text.length < 3 || text.length > 64 || starInside.test(text)) return [];
  return text.length < 6 || text.length > 24 ? [1] : [1, 2];
}

/** Returns the index of the first string that does not sort before `start`. `texts` must be sorted. */
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

/** The metadata keys and containers that a tenant's tokens use. */
export type TenantWords = { readonly keys: WordList; readonly containers: WordList };

/** The words that may be suggested to a caller, in addition to fields and types (docs/contract.md, "Suggestions"). */
export type VisibleWords = TenantWords & {
  /**
   * Returns true if a container may contain tokens and therefore needs no correction. If `within` is true, tokens in
   * sub-containers also count.
   */
  knowsContainer(path: string, within: boolean): boolean;
};

export const fieldWords = wordList([...textFields, 'container', ...dateFields, 'metadata.']);
export const typeWords = wordList(tokenTypes);

const noWords = wordList([]);

/**
 * Returns the words for a caller that may search all of a tenant's tokens. `words` is null if the tenant's words are
 * not known yet.
 */
export function wordsOfTenant(words: TenantWords | null): VisibleWords {
  if (words === null) return { keys: noWords, containers: noWords, knowsContainer: () => true };
  const { keys, containers } = words;
  return {
    keys,
    containers,
    knowsContainer: (path, within) => path === '/' || containers.has(path) || (within && containers.has(`${path}*`)),
  };
}

/**
 * Returns the words for a caller that may search only some containers. These words are the containers in the caller's
 * rules, and include none of the tenant's words.
 */
export function wordsOfRules(containers: readonly string[]): VisibleWords {
  return {
    keys: noWords,
    containers: wordList(containers),
    knowsContainer: (path) => containers.some((own) => path.toLowerCase().startsWith(own)),
  };
}

/**
 * Returns at most `max` containers in query syntax. The containers in use come first, in the order of `paths`. After
 * them come their ancestors that are not in `paths`, in the form `/pci/*`.
 */
export function containersInUse(paths: ReadonlySet<string>, max: number): readonly string[] {
  const words = new Set(paths);
  for (const path of paths) {
    for (const ancestor of selfAndAncestors(path)) if (!paths.has(ancestor)) words.add(`${ancestor}*`);
    if (words.size >= max) break;
  }
  return [...words].slice(0, max);
}
