import { isJsonArray, isJsonObject, type Json } from '../json.js';
import { inRanges, type Steps } from '../steps.js';

/**
 * Returns the size of `JSON.stringify(value)` in UTF-8 bytes, without building the JSON. Counting stops soon after
 * `stopAfter`, so a result above `stopAfter` is not exact.
 */
export function jsonSize(value: Json, stopAfter: number = Number.POSITIVE_INFINITY): number {
  if (typeof value === 'string') return jsonStringSize(value);
  if (typeof value === 'number') return Number.isFinite(value) ? String(value).length : 4;
  if (typeof value === 'boolean') return value ? 4 : 5;
  if (isJsonArray(value)) {
    let size = Math.max(2, value.length + 1);
    for (const item of value) {
      size += jsonSize(item, stopAfter - size);
      if (size > stopAfter) break;
    }
    return size;
  }
  if (isJsonObject(value)) {
    const keys = Object.keys(value);
    let size = Math.max(2, keys.length + 1);
    for (const key of keys) {
      size += jsonStringSize(key) + 1 + jsonSize(value[key] ?? null, stopAfter - size);
      if (size > stopAfter) break;
    }
    return size;
  }
  return 4;
}

/**
 * Returns the size of a result in UTF-8 bytes: the size of the text itself for a string, or the size of the JSON for
 * any other value.
 */
export function* resultSize(value: Json, stopAfter: number): Steps<number> {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (!isJsonArray(value)) return jsonSize(value, stopAfter);
  let size = Math.max(2, value.length + 1);
  yield* inRanges(value.length, (from, to) => {
    for (let i = from; i < to && size <= stopAfter; i += 1) size += jsonSize(value[i] ?? null, stopAfter - size);
  });
  return size;
}

function jsonStringSize(text: string): number {
  let size = 2;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0xd800 && code <= 0xdfff) {
      const paired = code < 0xdc00 && isLowSurrogate(text.charCodeAt(i + 1));
      size += paired ? 4 : 6;
      if (paired) i++;
    } else {
      size += unitSize(code);
    }
  }
  return size;
}

function unitSize(code: number): number {
  if (code === 0x22 || code === 0x5c) return 2;
  if (code < 0x20) return [8, 9, 10, 12, 13].includes(code) ? 2 : 6;
  if (code < 0x80) return 1;
  return code < 0x800 ? 2 : 3;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
