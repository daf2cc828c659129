import type { Json } from '../../domain/json.js';
import { scanJson } from './scan-json.js';

/**
 * `path` is where the fault lies (`data.number`, `a[0].b`); absent when it is the text itself, or its outermost value.
 * `message` completes "the body …" or "the value at `path` …".
 */
export type JsonBody =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly message: string; readonly path?: string };

/**
 * Reads a JSON text strictly (contract, section 1 "Bodies"). Refused are malformed text and bytes that are not UTF-8,
 * nesting deeper than 64, keys that reach a prototype, and numbers whose digits would not come back. Of duplicate keys
 * the last wins, a leading byte order mark is skipped, -0 stays the number that is written back as 0. A message names
 * positions, never text of the body.
 */
export function parseJsonBody(bytes: Buffer | string): JsonBody {
  const text = typeof bytes === 'string' ? bytes.replace(/^\uFEFF/, '') : decode(bytes);
  if (text === null) return { ok: false, message: 'must be UTF-8' };
  const fault = scanJson(text);
  if (fault !== null) return { ok: false, ...fault };
  const value: Json = JSON.parse(text);
  return { ok: true, value };
}

function decode(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
