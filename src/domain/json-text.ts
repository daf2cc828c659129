import { jsonSize } from './expressions/json-size.js';
import { isJsonArray, isJsonObject, type Json } from './json.js';
import type { Steps } from './steps.js';

/** So much is made into text at once. */
const bytesAtOnce = 32 * 1024;

/** `JSON.stringify`, in steps: that of a few MiB takes a tenth of a second. */
export function* jsonText(value: Json): Steps<string> {
  const pieces: string[] = [];
  yield* write(value, pieces);
  return pieces.join('');
}

function* write(value: Json, pieces: string[]): Steps<void> {
  const isArray = isJsonArray(value);
  if ((!isArray && !isJsonObject(value)) || jsonSize(value, bytesAtOnce) <= bytesAtOnce) {
    pieces.push(JSON.stringify(value));
    return;
  }
  yield;
  let separator = isArray ? '[' : '{';
  let gathered = 0;
  for (const [key, item] of isArray ? value.entries() : Object.entries(value)) {
    pieces.push(typeof key === 'number' ? separator : `${separator}${JSON.stringify(key)}:`);
    separator = ',';
    if (typeof item === 'object' && item !== null) yield* write(item, pieces);
    else pieces.push(JSON.stringify(item));
    gathered += 1;
    if (gathered % 1_000 === 0) yield;
  }
  pieces.push(isArray ? ']' : '}');
}
