import { lastCharacters } from '../characters.js';
import { textFilter } from './filter.js';

/** The last four characters; a shorter text whole. */
export function last4(text: string): string {
  return lastCharacters(text, 4);
}

export const last4Filter = textFilter('last4', [], last4);
