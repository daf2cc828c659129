import { tokenStream, tokenStreamPrefix } from '../tokens/stream-name.js';

/**
 * Returns the keyed hash, in hex, that the access log stores in place of an entity's id. The name of a token's stream
 * contains the same hash.
 */
export function entityRef(namesKey: Uint8Array, id: string): string {
  return refOfTokenStream(tokenStream(namesKey, id));
}

export function refOfTokenStream(stream: string): string {
  return stream.slice(tokenStreamPrefix.length);
}

export function tokenStreamOf(ref: string): string {
  return tokenStreamPrefix + ref;
}
