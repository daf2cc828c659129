import { runAt } from '../query/characters.js';

/** A metadata key as a query names it: `metadata.customer`, or `metadata."my key"`. */
export function metadataHead(key: string): string {
  return runAt(key, 0, 'name') === key ? `metadata.${key}` : `metadata."${key.replaceAll(/["\\]/g, '\\$&')}"`;
}
