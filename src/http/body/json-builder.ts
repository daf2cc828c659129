import type { Json } from '../../domain/json.js';
import type { Steps } from '../../domain/steps.js';

const escapesAtOnce = 2_000;
const simpleEscapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/** Builds a JSON value from what the scanner finds, because `JSON.parse` of 4 MiB cannot be interrupted. */
export class JsonBuilder {
  readonly #open: (Json[] | Record<string, Json>)[] = [];
  #value: Json = null;

  /** The outermost value. */
  get value(): Json {
    return this.#value;
  }

  /** `key`: of an object member; null in an array and outermost. */
  open(isArray: boolean, key: string | null): void {
    const container: Json[] | Record<string, Json> = isArray ? [] : {};
    this.add(container, key);
    this.#open.push(container);
  }

  close(): void {
    this.#open.pop();
  }

  add(value: Json, key: string | null): void {
    const container = this.#open.at(-1);
    if (container === undefined) this.#value = value;
    else if (Array.isArray(container)) container.push(value);
    // The scanner refuses `__proto__`.
    else if (key !== null) container[key] = value;
  }
}

/** The text of a valid JSON string literal from its opening quote at `start` to behind its closing one at `end`. */
export function* unescaped(text: string, start: number, end: number): Steps<string> {
  // A part of its own, so that no search runs beyond the end of the literal.
  const raw = text.slice(start + 1, end - 1);
  let result = '';
  let from = 0;
  for (let escapes = 1; ; escapes += 1) {
    const at = raw.indexOf('\\', from);
    if (at === -1) return from === 0 ? raw : result + raw.slice(from);
    const kind = raw[at + 1] ?? '';
    const isCode = kind === 'u';
    result += raw.slice(from, at);
    result += isCode
      ? String.fromCharCode(Number.parseInt(raw.slice(at + 2, at + 6), 16))
      : (simpleEscapes[kind] ?? '');
    from = at + (isCode ? 6 : 2);
    if (escapes % escapesAtOnce === 0) yield;
  }
}
