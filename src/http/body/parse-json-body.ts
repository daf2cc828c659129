import { isUtf8 } from 'node:buffer';
import type { Json } from '../../domain/json.js';
import { finish, type Steps } from '../../domain/steps.js';
import { type JsonFault, type RepeatedKeys, readJson, scanJson } from './scan-json.js';

/**
 * The result of parsing a body. `message` completes "the body …" or "the value at `path` …". `path` is the path of the
 * invalid value (`data.number`, `a[0].b`). `path` is absent if the text itself or its outermost value is invalid.
 */
export type JsonBody =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly message: string; readonly path?: string };

/**
 * Parses JSON strictly (docs/contract.md, "Request bodies"). Messages contain positions, never text from the body. If a
 * key is repeated, its last value is used, unless `repeatedKeys` is `rejected`. A leading byte order mark is ignored.
 *
 * Rejects the following:
 * - Malformed JSON, and bytes that are not UTF-8.
 * - Nesting deeper than 64 levels.
 * - Objects with more than 20,000 members.
 * - Keys that could change a prototype.
 * - Numbers that would lose digits.
 */
export function parseJsonBody(bytes: Buffer | string, repeatedKeys: RepeatedKeys = 'accepted'): JsonBody {
  if (typeof bytes !== 'string' && !isUtf8(bytes)) return { ok: false, message: 'must be UTF-8' };
  const text = bytes.toString().replace(/^\uFEFF/, '');
  const fault = scanJson(text, repeatedKeys);
  if (fault !== null) return { ok: false, ...fault };
  return mayContainNegativeZero.test(text) ? built(finish(readJson(text))) : { ok: true, value: JSON.parse(text) };
}

/** `JSON.parse` keeps -0, and `readJson` does not. */
const mayContainNegativeZero = /(?:^|[\s[:,])-0/;

/** A body up to this size is parsed without a pause. Parsing it takes a few milliseconds at most. */
const atOnceBytesMax = 32 * 1024;
const decodedAtOnceBytes = 256 * 1024;

/**
 * Parses a long body in steps. Parsing 4 MiB in one step would block the thread for a third of a second. Parses a short
 * body with `JSON.parse`, which is faster but cannot pause.
 */
export function* parsingJsonBody(bytes: Buffer, atOnceMax = atOnceBytesMax): Steps<JsonBody> {
  if (bytes.length <= atOnceMax) return parseJsonBody(bytes);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  try {
    for (let at = 0; at < bytes.length; at += decodedAtOnceBytes) {
      text += decoder.decode(bytes.subarray(at, at + decodedAtOnceBytes), { stream: true });
      yield;
    }
    text += decoder.decode();
  } catch {
    return { ok: false, message: 'must be UTF-8' };
  }
  return built(yield* readJson(text));
}

function built(read: JsonFault | { readonly value: Json }): JsonBody {
  return 'value' in read ? { ok: true, value: read.value } : { ok: false, ...read };
}
