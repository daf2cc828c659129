import { tokenTypes } from '../../domain/token/token-type.js';
import { dateFields, textFields } from '../query/syntax-tree.js';
import { type WordList, wordList } from './word-list.js';

/** The metadata keys and containers that tokens of a tenant have. */
export type TenantWords = { readonly keys: WordList; readonly containers: WordList };

/** What a caller may be told of besides fields and types (contract, section 7). */
export type VisibleWords = TenantWords & {
  /** Whether a container, or one below it when `within`, may hold tokens; then it needs no correction. */
  knowsContainer(path: string, within: boolean): boolean;
};

export const fieldWords = wordList([...textFields, 'container', ...dateFields, 'metadata.']);
export const typeWords = wordList(tokenTypes);

const noWords = wordList([]);

/** Of a tenant, for a caller whose search covers every token; null: not known yet. */
export function wordsOfTenant(words: TenantWords | null): VisibleWords {
  if (words === null) return { keys: noWords, containers: noWords, knowsContainer: () => true };
  const { keys, containers } = words;
  return {
    ...{ keys, containers },
    knowsContainer: (path, within) => path === '/' || containers.has(path) || (within && containers.has(`${path}*`)),
  };
}

/** Of a caller's own rules alone: nothing of the tenant is in it. */
export function wordsOfRules(containers: readonly string[]): VisibleWords {
  return {
    keys: noWords,
    containers: wordList(containers),
    knowsContainer: (path) => containers.some((own) => path.toLowerCase().startsWith(own)),
  };
}
