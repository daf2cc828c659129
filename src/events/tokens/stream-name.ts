import { keyedHash } from '../sealing/keyed-hash.js';

/** The name of a token's stream is this prefix, followed by the token's reference in the access log. */
export const tokenStreamPrefix = 'token-';

/**
 * Returns the name of a token's stream. It contains the keyed hash of the id in hex. Ids may be personal data, so they
 * never appear in stream names.
 */
export function tokenStream(namesKey: Uint8Array, tokenId: string): string {
  return tokenStreamPrefix + keyedHash(namesKey, 'token-stream', tokenId);
}

export function isTokenStream(stream: string): boolean {
  return stream.startsWith(tokenStreamPrefix);
}
