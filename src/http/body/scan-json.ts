import type { Json } from '../../domain/json.js';
import { finish, type Steps } from '../../domain/steps.js';
import { Containers } from './containers.js';
import { isFaithfulNumber } from './faithful-number.js';
import { JsonBuilder, unescaped } from './json-builder.js';
import { stringEnd } from './string-end.js';

const depthMax = 64;

type Expected = 'value' | 'value or end' | 'key' | 'key or end' | 'comma or end';

/** `message` completes "the body …" or "the value at `path` …". */
export type JsonFault = { readonly message: string; readonly path?: string };

/** Tokens of the text between two pauses: some tenths of a millisecond. */
const tokensAtOnce = 2_000;

/**
 * Looks for the first fault of a JSON text in one pass, without recursion; null when `JSON.parse` will read it and the
 * result is safe to keep. It is a whole validator, because the messages of `JSON.parse` quote the text.
 */
export function scanJson(text: string): JsonFault | null {
  return finish(new Scanner(text, null).scan());
}

/** The same in steps, which builds the value as well. */
export function* readJson(text: string): Steps<JsonFault | { readonly value: Json }> {
  const builder = new JsonBuilder();
  const fault = yield* new Scanner(text, builder).scan();
  return fault ?? { value: builder.value };
}

class Scanner {
  readonly #text: string;
  readonly #containers: Containers;
  readonly #number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
  #at = 0;
  #expected: Expected = 'value';

  readonly #builder: JsonBuilder | null;

  constructor(text: string, builder: JsonBuilder | null) {
    this.#text = text;
    this.#builder = builder;
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
      // Containers were added when they were opened.
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
    const key = this.#containers.key();
    this.#builder?.open(isArray, key);
    this.#containers.open(isArray, !isArray && key === 'constructor');
    this.#at += 1;
    this.#expected = isArray ? 'value or end' : 'key or end';
    return null;
  }

  #close(): null {
    this.#builder?.close();
    this.#containers.close();
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
    this.#expected = container.isArray ? 'value' : 'key';
    return null;
  }

  #key(): JsonFault | null {
    const container = this.#containers.innermost;
    if (container === undefined || this.#text[this.#at] !== '"') return this.#malformed();
    container.keyStart = this.#at;
    const fault = this.#string('value');
    if (fault !== null) return fault;
    container.keyEnd = this.#at;
    const key = this.#containers.key();
    // Such keys reach prototypes in code that copies objects by assignment.
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
    const message = 'is a number that would lose digits; send it as a string';
    const path = this.#containers.path();
    return path === '' ? { message } : { message, path };
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
