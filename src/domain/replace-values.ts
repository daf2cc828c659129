import { isJsonArray, type Json, type JsonObject } from './json.js';
import { itemPath, memberPath } from './json-path.js';
import type { Steps } from './steps.js';

/** The number of values to visit between two yields. Visiting them takes a few tenths of a millisecond. */
const valuesAtOnce = 2_000;

/** An object or array that is being copied. `at` is the index of the next member. */
type Frame =
  | { readonly keys: null; readonly from: readonly Json[]; readonly into: Json[]; at: number }
  | { readonly keys: readonly string[]; readonly from: JsonObject; readonly into: Record<string, Json>; at: number };

/**
 * Copies a JSON value and replaces some of the values in it. `replace` returns the replacement for a value, or
 * undefined to keep the value and visit its members. Works in steps and without recursion, because a 4 MiB body may
 * have a million values. `pathOf` returns the path of the current value (`a.b[0]`). The value must not contain the key
 * `__proto__`. Parsed bodies never contain it. A copied array has room for exactly its items, because arrays that grow
 * by `push` would take several times as much memory.
 */
export function* replaceValues(
  value: Json,
  replace: (value: Json, pathOf: () => string) => Json | undefined,
): Steps<Json> {
  const frames: Frame[] = [];

  const pathOf = (): string =>
    frames.reduce((path, { keys, at }) => {
      return keys === null ? itemPath(path, at - 1) : memberPath(path, keys[at - 1] ?? '');
    }, '');

  function copyOf(one: Json): Json {
    const replaced = replace(one, pathOf);
    if (replaced !== undefined) return replaced;
    if (typeof one !== 'object' || one === null) return one;
    const frame: Frame = isJsonArray(one)
      ? { keys: null, from: one, into: new Array<Json>(one.length), at: 0 }
      : { keys: Object.keys(one), from: one as JsonObject, into: {}, at: 0 };
    frames.push(frame);
    return frame.into;
  }

  const copy = copyOf(value);
  for (let values = 1; ; values += 1) {
    if (values % valuesAtOnce === 0) yield;
    const frame = frames.at(-1);
    if (frame === undefined) return copy;
    const at = frame.at++;
    if (at === (frame.keys ?? frame.from).length) frames.pop();
    else if (frame.keys === null) frame.into[at] = copyOf(frame.from[at] ?? null);
    else {
      const key = frame.keys[at] ?? '';
      frame.into[key] = copyOf(frame.from[key] ?? null);
    }
  }
}
