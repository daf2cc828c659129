import { isJsonArray, isJsonObject, type Json } from './json.js';
import type { Steps } from './steps.js';

/**
 * The maximum size of a value that is converted without yielding. The size is an estimate of the number of characters
 * in the value's JSON. The estimate adds up the lengths of all strings and keys, and counts 8 characters for every
 * other value.
 */
const sizeAtOnce = 32 * 1024;

/**
 * Returns the same text as `JSON.stringify`. Works in steps, because converting a few MiB takes a tenth of a second.
 */
export function* jsonText(value: Json): Steps<string> {
  if (isSmall(value)) return JSON.stringify(value);
  const pieces: string[] = [];
  yield* write(value, pieces);
  return pieces.join('');
}

/**
 * Appends the JSON of a large value to `pieces`. Converts many small items in one call to `JSON.stringify`, and
 * converts each large item recursively.
 */
function* write(value: Json, pieces: string[]): Steps<void> {
  const isArray = isJsonArray(value);
  if (!isArray && !isJsonObject(value)) {
    pieces.push(JSON.stringify(value));
    return;
  }
  yield;
  // Lists the keys without their values, because a list of pairs takes several times as long for a large object.
  const keys = isArray ? null : Object.keys(value);
  let separator = '';
  let gathered: [string, Json][] = [];
  let left = sizeAtOnce;
  const writeGathered = (): void => {
    if (gathered.length === 0) return;
    const text = JSON.stringify(isArray ? gathered.map(([, item]) => item) : Object.fromEntries(gathered));
    pieces.push(separator, text.slice(1, -1));
    separator = ',';
    gathered = [];
    left = sizeAtOnce;
  };
  pieces.push(isArray ? '[' : '{');
  const length = isArray ? value.length : (keys?.length ?? 0);
  for (let at = 0; at < length; at += 1) {
    const key = keys?.[at] ?? '';
    const item = (isArray ? value[at] : value[key]) ?? null;
    const after = leftAfter(item, left - key.length);
    if (after >= 0) {
      left = after;
      gathered.push([key, item]);
      continue;
    }
    writeGathered();
    yield;
    left = leftAfter(item, sizeAtOnce);
    if (left >= 0) {
      gathered.push([key, item]);
      continue;
    }
    pieces.push(separator, isArray ? '' : `${JSON.stringify(key)}:`);
    separator = ',';
    left = sizeAtOnce;
    yield* write(item, pieces);
  }
  writeGathered();
  pieces.push(isArray ? ']' : '}');
}

function isSmall(value: Json): boolean {
  return leftAfter(value, sizeAtOnce) >= 0;
}

/**
 * Returns `size` minus the estimated size of a value. If the value is larger than `size`, stops early and returns a
 * negative number.
 */
function leftAfter(value: Json, size: number): number {
  if (typeof value === 'string') return size - 2 - value.length;
  let left = size - 8;
  if (isJsonArray(value)) {
    for (const item of value) {
      left = leftAfter(item, left);
      if (left < 0) break;
    }
  } else if (isJsonObject(value)) {
    for (const key in value) {
      left = leftAfter(value[key] ?? null, left - key.length);
      if (left < 0) break;
    }
  }
  return left;
}
