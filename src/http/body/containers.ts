import { printableKey } from '../../domain/printable-key.js';
import { keyAt } from './json-key.js';

type Container = { isArray: boolean; isConstructor: boolean; index: number; keyStart: number; keyEnd: number };

/**
 * The arrays and objects around the value being scanned, and what is needed to name its path. Entries are reused and
 * keys are kept as positions, so that a large body costs no allocation per value.
 */
export class Containers {
  readonly #text: string;
  readonly #stack: Container[] = [];
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get depth(): number {
    return this.#depth;
  }

  get innermost(): Container | undefined {
    return this.#stack[this.#depth - 1];
  }

  /** `isConstructor`: an object that is the value of a key `constructor`. */
  open(isArray: boolean, isConstructor: boolean): void {
    const reused = this.#stack[this.#depth];
    if (reused === undefined) this.#stack.push({ isArray, isConstructor, index: 0, keyStart: 0, keyEnd: 0 });
    else {
      reused.isArray = isArray;
      reused.isConstructor = isConstructor;
      reused.index = 0;
    }
    this.#depth += 1;
  }

  close(): void {
    this.#depth -= 1;
  }

  /** The key whose value is being scanned; null inside an array or outside of every container. */
  key(): string | null {
    const { innermost } = this;
    if (innermost === undefined || innermost.isArray) return null;
    return keyAt(this.#text, innermost.keyStart, innermost.keyEnd);
  }

  /** The path of the value being scanned (`data.a[0]`); empty outside of every container. */
  path(): string {
    let path = '';
    for (const container of this.#stack.slice(0, this.#depth)) {
      if (container.isArray) path += `[${container.index}]`;
      else {
        const shown = printableKey(keyAt(this.#text, container.keyStart, container.keyEnd));
        path += path === '' ? shown : `.${shown}`;
      }
    }
    return path;
  }
}
