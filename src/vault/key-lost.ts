export type LostKey = 'key_missing' | 'key_destroyed_without_event' | 'box_damaged';

/**
 * Thrown if a live token's key is missing or its ciphertext cannot be decrypted. This is never treated as erasure: the
 * response is 500, readiness fails, and an operator must restore the key store from a backup. `stream` is a keyed hash.
 */
export class KeyLost extends Error {
  readonly stream: string;
  readonly what: LostKey;

  constructor(stream: string, what: LostKey) {
    super(`${what}: ${stream}`);
    this.name = 'KeyLost';
    this.stream = stream;
    this.what = what;
  }
}
