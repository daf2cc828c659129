import { textFilter } from './filter.js';

/** Without white space at both ends. */
export const strip = textFilter('strip', [], (text) => text.trim());
