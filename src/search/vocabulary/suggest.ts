import { metadataHead } from './correct.js';
import { fieldWords, typeWords, type VisibleWords, type WordList } from './word-list.js';

const suggestionsMax = 20;

export type Suggestion = {
  /** The text that replaces the prefix. */
  readonly text: string;
  readonly kind: 'field' | 'type' | 'metadata_key' | 'container';
};

/**
 * A list of words of one kind. `typed` is the part of the prefix to complete, and `write` turns a word into the text of
 * a suggestion.
 */
type Source = {
  readonly kind: Suggestion['kind'];
  readonly words: WordList;
  readonly typed: string;
  write(word: string): string;
};

/**
 * Returns at most 20 completions of a prefix: fields, types, metadata keys and containers, sorted within each kind. If
 * the prefix begins with `type:`, `container:` or `metadata.`, returns only completions of that kind. If no word begins
 * with the prefix, returns the most similar word of each kind.
 */
export function suggest(prefix: string, visible: VisibleWords): readonly Suggestion[] {
  const sources = sourcesOf(prefix, visible);
  const completed = sources.flatMap(({ kind, words, typed, write }) =>
    words.complete(typed, suggestionsMax).map((word) => ({ text: write(word), kind })),
  );
  if (completed.length > 0) return completed.slice(0, suggestionsMax);
  return sources.flatMap(({ kind, words, typed, write }) => {
    const word = words.nearest(typed);
    return word === undefined ? [] : [{ text: write(word), kind }];
  });
}

function sourcesOf(prefix: string, { keys, containers }: VisibleWords): readonly Source[] {
  const [, head = '', rest = ''] = /^(type:|container:|metadata\.)?"?(.*)$/isu.exec(prefix) ?? [];
  const key = { kind: 'metadata_key', words: keys, typed: rest, write: metadataHead } as const;
  switch (head.toLowerCase()) {
    case 'type:':
      return [{ kind: 'type', words: typeWords, typed: rest, write: (word) => `type:${word}` }];
    case 'container:':
      return [{ kind: 'container', words: containers, typed: rest, write: (word) => `container:${word}` }];
    case 'metadata.':
      return [key];
    default:
      return [
        { kind: 'field', words: fieldWords, typed: prefix, write: (word) => word },
        { kind: 'type', words: typeWords, typed: prefix, write: (word) => word },
        { ...key, typed: prefix },
        { kind: 'container', words: containers, typed: prefix, write: (word) => word },
      ];
  }
}
