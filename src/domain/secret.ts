import { inspect } from 'node:util';

/**
 * A plaintext value that must not accidentally reach a log, an error or a message. Printing, inspecting or serializing
 * it yields a placeholder. Only `reveal` returns the value, so a search for that name finds every use.
 */
export class Secret<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  reveal(): T {
    return this.#value;
  }

  toJSON(): string {
    return '[secret]';
  }

  toString(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}
