import { inspect } from 'node:util';
import { plaintext } from './unwrap.js';

/**
 * Plaintext data of a token: decrypted, or about to be encrypted. Printing, inspecting or serializing it yields a
 * placeholder, and it has no method that returns the data. A response gets the data through `release`.
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
