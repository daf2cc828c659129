import type { FieldErrors } from '../../domain/field-errors.js';
import { isJsonObject, type Json } from '../../domain/json.js';
import { counted } from '../../domain/text.js';
import { parseJsonBody } from '../../http/body/parse-json-body.js';
import type { Line } from '../files/read-lines.js';
import { linesWithoutIdMax } from './line-ids.js';

/** The field name of an error that concerns a whole line. */
export const wholeLine = 'line';
/** The maximum size of a line. It equals the body limit for HTTP requests. */
export const lineBytesMax = 4 * 1024 * 1024;
/**
 * If a line is no longer than this, its value cannot exceed `lineBytesMax` when it is serialized again. Serializing can
 * make a number longer, but only by a small factor.
 */
const surelySmallBytes = 1024 * 1024;

/** A request from one line of the import. `id` is the token's id if the request itself contains none. */
export type ImportItem = { readonly request: Json; readonly id: string | null };

export type ReadLine =
  | { readonly ok: true; readonly item: ImportItem; readonly sizeBytes: number }
  | { readonly ok: false; readonly errors: FieldErrors };

/**
 * Returns an id for a line that has none, or null if the import has too many such lines. Throws Failure if the resume
 * file cannot be used.
 */
export type LineIds = (bytes: Buffer) => Promise<string | null>;

/**
 * Parses a line as a request. An error that concerns the whole line has the field name `wholeLine`. If `idOf` is null,
 * the line must contain an id.
 */
export async function readItem({ bytes }: Line, idOf: LineIds | null): Promise<ReadLine> {
  if (bytes === null) return bad(wholeLine, 'must be at most 4 MiB long');
  const parsed = parseJsonBody(bytes);
  if (!parsed.ok) return bad(parsed.path ?? wholeLine, parsed.message);
  const { value: request } = parsed;
  if (bytes.length > surelySmallBytes && Buffer.byteLength(JSON.stringify(request)) > lineBytesMax) {
    return bad(wholeLine, 'must be at most 4 MiB long');
  }
  const item = (id: string | null): ReadLine => ({ ok: true, item: { request, id }, sizeBytes: bytes.length });
  if (!isJsonObject(request) || (request['id'] !== undefined && request['id'] !== null)) return item(null);
  if (idOf === null) return bad('id', 'is required in standard input without --resume-file');
  const id = await idOf(bytes);
  return id === null
    ? bad('id', `is required after ${counted(linesWithoutIdMax, 'line')} without one; split the file`)
    : item(id);
}

function bad(path: string, message: string): ReadLine {
  return { ok: false, errors: { [path]: [message] } };
}
