import { keyedHash } from '../sealing/keyed-hash.js';

/**
 * Returns `token-` followed by the keyed hash of the id in hex. Ids may be personal data, so they never appear in
 * stream names.
 */
export function tokenStream(namesKey: Uint8Array, tokenId: string): string {
  return `token-${keyedHash(namesKey, 'token-stream', tokenId)}`;
}
