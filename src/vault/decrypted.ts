import { inspect } from 'node:util';
import { plaintext } from './unwrap.js';

/**
 * Plaintext token data that was decrypted or is about to be encrypted. Printing, inspecting or serializing the object
 * yields only a placeholder. No method returns the data. `release` puts the data into responses.
 */
export class Decrypted<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  [plaintext](): T {
    return this.#value;
  }

  toJSON(): string {
    return '[decrypted]';
  }

  toString(): string {
    return '[decrypted]';
  }

  [inspect.custom](): string {
    return '[decrypted]';
  }
}
