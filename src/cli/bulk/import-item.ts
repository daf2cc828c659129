import type { FieldErrors } from '../../domain/field-errors.js';
import { isJsonObject, type Json } from '../../domain/json.js';
import { counted } from '../../domain/text.js';
import { parseJsonBody } from '../../http/body/parse-json-body.js';
import { linesWithoutIdMax } from './line-ids.js';
import type { Line } from './read-lines.js';

/** As a request over HTTP. */
export const lineBytesMax = 4 * 1024 * 1024;
/** Written out again, a line below this cannot come near the limit: a number takes a few times its digits at most. */
const surelySmallBytes = 1024 * 1024;

/** One line as it is sent to be imported. `id` stands for a line without one. */
export type ImportItem = { readonly request: Json; readonly id: string | null };

export type ReadLine =
  | { readonly ok: true; readonly item: ImportItem; readonly sizeBytes: number }
  | { readonly ok: false; readonly errors: FieldErrors };

/** Gives a line without an id one; null: there are too many of them. Throws Failure. */
export type LineIds = (bytes: Buffer) => Promise<string | null>;

/** A line as a request; what is wrong with it as a whole is under `line`. `idOf` null: it must have an id itself. */
export async function readItem({ bytes }: Line, idOf: LineIds | null): Promise<ReadLine> {
  if (bytes === null) return bad('line', 'must take at most 4 MiB');
  const parsed = parseJsonBody(bytes);
  if (!parsed.ok) return bad(parsed.path ?? 'line', parsed.message);
  const { value: request } = parsed;
  if (bytes.length > surelySmallBytes && Buffer.byteLength(JSON.stringify(request)) > lineBytesMax) {
    return bad('line', 'must take at most 4 MiB');
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
