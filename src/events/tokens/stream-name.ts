import { keyedHash } from '../sealing/keyed-hash.js';

/** `token-` and the hex keyed hash of the id: ids may be personal, so they never appear in a name. */
export function tokenStream(namesKey: Uint8Array, tokenId: string): string {
  return `token-${keyedHash(namesKey, 'token-stream', tokenId).toString('hex')}`;
}
