export type LostKey = 'key_missing' | 'key_destroyed_without_event' | 'box_damaged';

/**
 * A living token whose key is not there, or whose box does not open: never to be taken for erasure. The answer is 500,
 * readiness fails, and the store must be mended from a backup. `stream` is a keyed hash.
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
