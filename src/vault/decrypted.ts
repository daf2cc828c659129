import { inspect } from 'node:util';
import { plaintext } from './unwrap.js';

/**
 * Plaintext token data that was decrypted or is about to be encrypted. Printing, inspecting or serializing it yields a
 * placeholder, and no method returns the data. Responses get the data through `release`.
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
