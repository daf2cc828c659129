import { inspect } from 'node:util';

/**
 * A plaintext value that must not reach a log, an error or a message by accident: printing, inspecting or serialising
 * it yields a placeholder. `reveal` is the one way to the value, so that each use can be found by its name.
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
