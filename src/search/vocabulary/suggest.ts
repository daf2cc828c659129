import { metadataHead } from './correct.js';
import { fieldWords, typeWords, type VisibleWords, type WordList } from './word-list.js';

export const suggestionsMax = 20;

export type Suggestion = {
  /** To be put in the place of the prefix. */
  readonly text: string;
  readonly kind: 'field' | 'type' | 'metadata_key' | 'container';
};

/** Where to look for what was typed, and how a word found there is written. */
type Source = {
  readonly kind: Suggestion['kind'];
  readonly words: WordList;
  readonly typed: string;
  write(word: string): string;
};

/**
 * What a prefix may become: a field, a type, a metadata key or a container; after `type:`, `container:` or `metadata.`
 * those alone. When nothing begins with it, the nearest words. In the order of the kinds, each sorted; at most 20.
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
