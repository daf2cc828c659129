import { type Checked, invalid, valid } from '../../field-errors.js';
import type { JsonObject } from '../../json.js';

const contentBytesMax = 512 * 1024;

/**
 * Refuses content (data, mask, metadata and the rest together) of more than 512 KiB as JSON in UTF-8; the error is at
 * `data`. To be called before any expression is evaluated. Contract, section 1 "Bodies".
 */
export function checkContentSize(content: JsonObject): Checked<null> {
  const bytes = Buffer.byteLength(JSON.stringify(content), 'utf8');
  if (bytes <= contentBytesMax) return valid(null);
  return invalid(
    'data',
    `data, mask, metadata and the rest together must take at most ${contentBytesMax} bytes as JSON`,
  );
}
