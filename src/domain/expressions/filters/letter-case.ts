import { limits } from '../limits.js';
import type { Refusal } from '../refusal.js';
import { tooBig } from '../text-of.js';
import { textFilter } from './filter.js';

export const upcase = textFilter('upcase', [], (text) => changeCase(text, (part) => part.toUpperCase()));

export const downcase = textFilter('downcase', [], (text) => changeCase(text, (part) => part.toLowerCase()));

/** No letter takes over three times its bytes in the other case; a text that might not fit is measured in parts. */
function changeCase(text: string, change: (part: string) => string): string | Refusal {
  const mayNotFit = 3 * Buffer.byteLength(text) > limits.resultBytesMax;
  return mayNotFit && changedSize(text, change) > limits.resultBytesMax ? tooBig() : change(text);
}

function changedSize(text: string, change: (part: string) => string): number {
  let size = 0;
  for (let start = 0; start < text.length; ) {
    const end = start + 8_192 + ((text.codePointAt(start + 8_191) ?? 0) > 0xffff ? 1 : 0);
    size += Buffer.byteLength(change(text.slice(start, end)));
    start = end;
  }
  return size;
}
