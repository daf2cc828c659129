import { isJsonObject, type Json, type JsonObject } from '../domain/json.js';
import { Problem, problemFrom } from '../http/problem/problem.js';
import { getToken } from '../queries/get-token.js';
import { type ReadContext, releasedToken } from '../queries/release.js';
import type { TokenAnswer } from '../queries/token-answer.js';
import type { Visit } from './page.js';
import { shownLines, shownText } from './shown-text.js';

/** A page shows at most this many characters of data or of a mask. A downloaded file contains all characters. */
const charactersMax = 3_000;
const membersMax = 20;
const memberCharactersMax = 500;

/** Returns the path to a token's page. */
export function tokenPath(id: string): string {
  return `/tokens/${encodeURIComponent(id)}`;
}

/** Returns a token with the caller's `token:read` transform applied. Throws a problem if the read is rejected. */
export async function findToken({ vault, context }: Visit, id: string): Promise<TokenAnswer> {
  const found = await getToken(vault, context, id);
  if (!found.ok) throw problemFrom(found);
  return found.value;
}

/**
 * Returns a token in plaintext. Throws Problem 403 if neither `token:read` nor `token:use` allows the caller to see the
 * plaintext.
 */
export async function findPlaintext(visit: Visit, id: string): Promise<TokenAnswer> {
  const read = await findToken(visit, id);
  if (read.transform === 'reveal') return read;
  const used = await getToken(visit.vault, visit.context, id, 'token:use');
  if (used.ok && used.value.transform === 'reveal') return used.value;
  throw new Problem('forbidden');
}

/** Records the read in the access log and returns the token object. Throws Problem 404 if the token has expired. */
export async function released({ vault, context }: Visit, answer: TokenAnswer, as: ReadContext = context) {
  const token = await releasedToken(vault, as, answer);
  if (!token.ok) throw problemFrom(token);
  return token.value;
}

export type Sheet = ReturnType<typeof sheetOf>;

/** Returns the fields that a template needs to show a token. */
export function sheetOf(token: JsonObject) {
  const { id, type, containers, metadata, search_indexes: indexes, mask } = token;
  return {
    id: String(id),
    type: String(type),
    path: tokenPath(String(id)),
    data: Object.hasOwn(token, 'data') ? shownData(token['data'] ?? null) : null,
    containers: Array.isArray(containers) ? containers.map(String) : [],
    metadata: isJsonObject(metadata) ? Object.entries(metadata) : [],
    indexes: Array.isArray(indexes) ? indexes.map(String) : [],
    mask: mask === undefined ? null : linesOf(mask),
    fingerprint: textOf(token['fingerprint']),
    fingerprintExpression: textOf(token['fingerprint_expression']),
    createdAt: textOf(token['created_at']),
    createdBy: textOf(token['created_by']),
    modifiedAt: textOf(token['modified_at']),
    modifiedBy: textOf(token['modified_by']),
    expiresAt: textOf(token['expires_at']),
    entityRef: textOf(token['entity_ref']),
  };
}

function textOf(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

/**
 * Returns data as a list of members if the data is a small object, and as text if it is not. `isCut` is true if the
 * text was shortened.
 */
function shownData(data: Json) {
  const members = isJsonObject(data) ? Object.entries(data) : [];
  const isSmall = members.length > 0 && members.length <= membersMax && members.every(([, value]) => isShort(value));
  if (isSmall) {
    const shown = members.map(([key, value]) => [shownText(key, 60), shownText(value, memberCharactersMax)]);
    return { members: shown, text: '', isCut: false };
  }
  return { members: [], text: linesOf(data), isCut: sourceOf(data).length > charactersMax };
}

function isShort(value: Json): boolean {
  if (typeof value === 'string') return value.length <= memberCharactersMax / 5 && !value.includes('\n');
  return typeof value !== 'object' || value === null;
}

function linesOf(value: Json): string {
  return shownLines(sourceOf(value), charactersMax);
}

function sourceOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}
