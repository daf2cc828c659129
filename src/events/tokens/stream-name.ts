import { keyedHash } from '../sealing/keyed-hash.js';

/** Returns `token-` and the keyed hash of the id in hex. Ids may be personal, so they never appear in a name. */
export function tokenStream(namesKey: Uint8Array, tokenId: string): string {
  return `token-${keyedHash(namesKey, 'token-stream', tokenId)}`;
}
