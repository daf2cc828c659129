import { textFilter } from './filter.js';

/** JSON text without spaces, keys in the order of the data; a string stays as it is, null stays null. */
export const stringify = textFilter('stringify', [], (text) => text);
