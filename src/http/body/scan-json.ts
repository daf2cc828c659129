import { isFaithfulNumber } from '../../domain/faithful-number.js';
import { type Json, objectMembersMax } from '../../domain/json.js';
import { itemPath, memberPath } from '../../domain/json-path.js';
import { finish, type Steps } from '../../domain/steps.js';

const depthMax = 64;
type Expected = 'value' | 'value or end' | 'key' | 'key or end' | 'comma or end';

/** A reason why JSON is rejected. `message` completes "the body …" or "the value at `path` …". */
export type JsonFault = { readonly message: string; readonly path?: string };

/**
 * The number of JSON tokens that are scanned between two pauses. Scanning this many takes a few tenths of a
 * millisecond.
 */
const tokensAtOnce = 2_000;

/** Whether an object may contain a key more than once. If it may, the last value is used. */
export type RepeatedKeys = 'accepted' | 'rejected';

/**
 * Returns the first fault in the JSON text. Returns null if `JSON.parse` accepts the text and the result can be stored
 * safely. Makes one pass without recursion. Does not use `JSON.parse` to validate the syntax, because the error
 * messages of `JSON.parse` quote the text.
 */
export function scanJson(text: string, repeatedKeys: RepeatedKeys): JsonFault | null {
  return finish(new Scanner(text, null, repeatedKeys).scan());
}

/**
 * Scans JSON text in steps and builds its value. `JSON.parse` is not suitable, because it cannot pause while it parses
 * a 4 MiB body, and because it returns -0.
 */
export function* readJson(text: string): Steps<JsonFault | { readonly value: Json }> {
  const builder = new JsonBuilder();
  const fault = yield* new Scanner(text, builder, 'accepted').scan();
  return fault ?? { value: builder.value };
}

class Scanner {
  readonly #text: string;
  readonly #containers: Containers;
  readonly #number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
  #at = 0;
  #expected: Expected = 'value';

  readonly #builder: JsonBuilder | null;
  readonly #repeatedKeys: RepeatedKeys;

  constructor(text: string, builder: JsonBuilder | null, repeatedKeys: RepeatedKeys) {
    this.#text = text;
    this.#builder = builder;
    this.#repeatedKeys = repeatedKeys;
    this.#containers = new Containers(text);
  }

  *scan(): Steps<JsonFault | null> {
    for (let tokens = 1; ; tokens += 1) {
      if (tokens % tokensAtOnce === 0) yield;
      this.#skipWhitespace();
      const isComplete = this.#expected === 'comma or end' && this.#containers.depth === 0;
      if (isComplete && this.#at === this.#text.length) return null;
      const start = this.#at;
      const isValue = this.#expected === 'value' || this.#expected === 'value or end';
      const fault = isComplete ? this.#malformed() : this.#step();
      if (fault !== null) return fault;
      if (this.#builder === null || !isValue) continue;
      const first = this.#text[start];
      // Arrays and objects are added when they are closed, so they are skipped here.
      if (first === '{' || first === '[' || first === ']') continue;
      const value: Json =
        first === '"' ? yield* unescaped(this.#text, start, this.#at) : JSON.parse(this.#text.slice(start, this.#at));
      this.#builder.add(value, this.#containers.key());
    }
  }

  #step(): JsonFault | null {
    const character = this.#text[this.#at];
    switch (this.#expected) {
      case 'key or end':
        return character === '}' ? this.#close() : this.#key();
      case 'key':
        return this.#key();
      case 'value or end':
        return character === ']' ? this.#close() : this.#value(character);
      case 'value':
        return this.#value(character);
      case 'comma or end':
        return this.#afterValue(character);
    }
  }

  #value(character: string | undefined): JsonFault | null {
    if (character === '"') return this.#string('comma or end');
    if (character === '{' || character === '[') return this.#open(character === '[');
    if (character === 't') return this.#literal('true');
    if (character === 'f') return this.#literal('false');
    return character === 'n' ? this.#literal('null') : this.#numberLiteral();
  }

  #open(isArray: boolean): JsonFault | null {
    if (this.#containers.depth === depthMax) return { message: `must not nest deeper than ${depthMax} levels` };
    this.#builder?.open(isArray);
    const keys = this.#repeatedKeys === 'rejected' ? new Set<string>() : null;
    this.#containers.open(isArray, !isArray && this.#containers.key() === 'constructor', keys);
    this.#at += 1;
    this.#expected = isArray ? 'value or end' : 'key or end';
    return null;
  }

  #close(): null {
    this.#containers.close();
    this.#builder?.close(this.#containers.key());
    this.#at += 1;
    this.#expected = 'comma or end';
    return null;
  }

  #afterValue(character: string | undefined): JsonFault | null {
    const container = this.#containers.innermost;
    if (container === undefined) return this.#malformed();
    if (character === (container.isArray ? ']' : '}')) return this.#close();
    if (character !== ',') return this.#malformed();
    this.#at += 1;
    container.index += 1;
    if (!container.isArray && container.index === objectMembersMax) return this.#tooManyMembers();
    this.#expected = container.isArray ? 'value' : 'key';
    return null;
  }

  #tooManyMembers(): JsonFault {
    return faultAt(this.#containers.innermostPath(), `must have at most ${objectMembersMax} members`);
  }

  #key(): JsonFault | null {
    const container = this.#containers.innermost;
    if (container === undefined || this.#text[this.#at] !== '"') return this.#malformed();
    container.keyStart = this.#at;
    const fault = this.#string('value');
    if (fault !== null) return fault;
    container.keyEnd = this.#at;
    const key = this.#containers.key() ?? '';
    if (container.keys?.has(key)) {
      return { message: 'occurs more than once; remove all but one', path: this.#containers.path() };
    }
    container.keys?.add(key);
    // If code copied the object by assigning each key, such a key would change the prototype of the copy.
    if (key === '__proto__' || (key === 'prototype' && container.isConstructor)) {
      return { message: 'must not be used as a key', path: this.#containers.path() };
    }
    this.#skipWhitespace();
    if (this.#text[this.#at] !== ':') return this.#malformed();
    this.#at += 1;
    return null;
  }

  #string(next: Expected): JsonFault | null {
    const end = stringEnd(this.#text, this.#at);
    this.#at = end < 0 ? ~end : end;
    this.#expected = next;
    return end < 0 ? this.#malformed() : null;
  }

  #literal(literal: string): JsonFault | null {
    if (!this.#text.startsWith(literal, this.#at)) return this.#malformed();
    this.#at += literal.length;
    this.#expected = 'comma or end';
    return null;
  }

  #numberLiteral(): JsonFault | null {
    this.#number.lastIndex = this.#at;
    if (!this.#number.test(this.#text)) return this.#malformed();
    const literal = this.#text.slice(this.#at, this.#number.lastIndex);
    this.#at = this.#number.lastIndex;
    this.#expected = 'comma or end';
    if (isFaithfulNumber(literal)) return null;
    return faultAt(this.#containers.path(), 'is a number that may lose digits; send it as a string');
  }

  #skipWhitespace(): void {
    for (;;) {
      const unit = this.#text.charCodeAt(this.#at);
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return;
      this.#at += 1;
    }
  }

  #malformed(): JsonFault {
    const what = this.#at < this.#text.length ? 'an unexpected character' : 'an unexpected end';
    return { message: `must be valid JSON; there is ${what} at position ${this.#at + 1}` };
  }
}

function faultAt(path: string, message: string): JsonFault {
  return path === '' ? { message } : { message, path };
}

type Container = {
  isArray: boolean;
  isConstructor: boolean;
  /** The keys so far, or null if keys may be repeated. */
  keys: Set<string> | null;
  index: number;
  keyStart: number;
  keyEnd: number;
};

/**
 * The stack of arrays and objects that contain the current value. It can compute the path of that value. To avoid an
 * allocation for each value, the stack reuses its entries and stores each key as a position in the text.
 */
class Containers {
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

  /**
   * Adds an array or object. `isConstructor` means that the container is an object stored under the key `constructor`.
   */
  open(isArray: boolean, isConstructor: boolean, keys: Set<string> | null): void {
    const reused = this.#stack[this.#depth];
    if (reused === undefined) this.#stack.push({ isArray, isConstructor, keys, index: 0, keyStart: 0, keyEnd: 0 });
    else {
      reused.isArray = isArray;
      reused.isConstructor = isConstructor;
      reused.keys = keys;
      reused.index = 0;
    }
    this.#depth += 1;
  }

  close(): void {
    this.#depth -= 1;
  }

  /** Returns the key of the current value. Returns null if the value is an array element or the outermost value. */
  key(): string | null {
    const { innermost } = this;
    if (innermost === undefined || innermost.isArray) return null;
    return keyAt(this.#text, innermost.keyStart, innermost.keyEnd);
  }

  /** Returns the path of the current value, such as `data.a[0]`. The path of the outermost value is empty. */
  path(): string {
    return this.#pathTo(this.#depth);
  }

  /** Returns the path of the innermost array or object that contains the current value. */
  innermostPath(): string {
    return this.#pathTo(this.#depth - 1);
  }

  #pathTo(depth: number): string {
    let path = '';
    for (const container of this.#stack.slice(0, depth)) {
      if (container.isArray) path = itemPath(path, container.index);
      else path = memberPath(path, keyAt(this.#text, container.keyStart, container.keyEnd));
    }
    return path;
  }
}

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

/** Shorter arrays are copied to free their spare room. */
const spareItems = 16;

/** Builds a JSON value from the tokens found by the scanner. */
class JsonBuilder {
  readonly #open: (Json[] | Record<string, Json>)[] = [];
  #value: Json = null;

  /** The outermost value. */
  get value(): Json {
    return this.#value;
  }

  open(isArray: boolean): void {
    this.#open.push(isArray ? [] : {});
  }

  /** Adds the array or object that was opened last. `key` is null for an array element and for the outermost value. */
  close(key: string | null): void {
    const closed = this.#open.pop() ?? null;
    // An array that grows by `push` has room for at least 17 items. The copy has room for exactly its items. Threat: a
    // body of 4 MiB has two million arrays of one item each. With their spare room, they would take 400 MB, and garbage
    // collection would delay other requests.
    this.add(Array.isArray(closed) && closed.length < spareItems ? closed.slice() : closed, key);
  }

  add(value: Json, key: string | null): void {
    const container = this.#open.at(-1);
    // -0 becomes 0, because `JSON.stringify` writes it as 0. Otherwise, a patch with -0 would count as a change each time.
    const kept = value === 0 ? 0 : value;
    if (container === undefined) this.#value = kept;
    else if (Array.isArray(container)) container.push(kept);
    // The scanner has already rejected `__proto__`.
    else if (key !== null) container[key] = kept;
  }
}

/**
 * Returns the text of a valid JSON string literal. `start` is the index of the opening quote. `end` is the index after
 * the closing quote.
 */
function* unescaped(text: string, start: number, end: number): Steps<string> {
  // The literal is sliced first, so that `indexOf` does not search beyond its end.
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

const quote = 0x22;
const backslash = 0x5c;
const escapableCharacters = '"\\/bfnrt';

/**
 * Returns the position after the JSON string that begins at `start`. If the string contains an invalid character,
 * returns the bitwise complement (~) of that character's position. The complement is always negative.
 */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === quote) return at + 1;
    if (unit < 0x20) return ~at;
    if (unit !== backslash) continue;
    at += 1;
    if (text[at] === 'u') {
      for (let digit = 0; digit < 4; digit += 1) {
        at += 1;
        if (!isHexDigit(text.charCodeAt(at))) return ~at;
      }
    } else if (!escapableCharacters.includes(text[at] ?? ' ')) return ~at;
  }
  return ~text.length;
}

function isHexDigit(unit: number): boolean {
  return (unit >= 0x30 && unit <= 0x39) || (unit >= 0x41 && unit <= 0x46) || (unit >= 0x61 && unit <= 0x66);
}

/**
 * Returns the key between `start` and `end`. These positions include the quotes. The caller has checked that the text
 * is a valid JSON string.
 */
function keyAt(text: string, start: number, end: number): string {
  const key = text.slice(start + 1, end - 1);
  if (!key.includes('\\')) return key;
  const decoded: string = JSON.parse(`"${key}"`);
  return decoded;
}
