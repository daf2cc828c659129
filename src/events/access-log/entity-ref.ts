import { tokenStream } from '../tokens/stream-name.js';

const prefix = 'token-';

/**
 * What the access log holds in place of an id: a keyed hash, hex, the same for every type of entity. That of a token is
 * the one in the name of its stream.
 */
export function entityRef(namesKey: Uint8Array, id: string): string {
  return refOfTokenStream(tokenStream(namesKey, id));
}

export function refOfTokenStream(stream: string): string {
  return stream.slice(prefix.length);
}

export function tokenStreamOf(ref: string): string {
  return prefix + ref;
}
