export type LostKey = 'key_missing' | 'key_destroyed_without_event' | 'ciphertext_damaged';

/**
 * Thrown if a key that is still needed is missing, or if a ciphertext cannot be decrypted. A lost key never counts as
 * an erasure. The response is 500, the readiness check fails, and an operator must restore the key store from a backup.
 * `stream` contains a keyed hash of the token id, not the id.
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
