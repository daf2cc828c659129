import { isDeepStrictEqual } from 'node:util';
import type { Budget } from '../../expressions/budget.js';
import type { Expressions, Variables } from '../../expressions/expressions.js';
import { ownValue } from '../../expressions/own-property.js';
import { type Checked, invalid, valid } from '../../field-errors.js';
import { isJsonObject, type Json } from '../../json.js';
import type { Steps } from '../../steps.js';
import { codePointCount, isWellFormed } from '../../text.js';

const path = 'fingerprint_expression';
const charactersMax = 400;
const scope = { variables: ['data', 'metadata'] } as const;

/** Checks the length and the syntax of the expression, without evaluating it. See docs/contract.md, "Fingerprints". */
export function checkFingerprintExpression(expressions: Expressions, source: string): Checked<null> {
  if (codePointCount(source) > charactersMax) return invalid(path, `must have at most ${charactersMax} characters`);
  const parsed = expressions.parse(source, scope);
  return parsed.ok ? valid(null) : invalid(path, parsed.message);
}

/**
 * Evaluates the expression. Returns the value that is fingerprinted, converted to text: a string stays unchanged, and
 * any other value becomes JSON. Rejects null.
 */
export function* evaluateFingerprint(
  expressions: Expressions,
  source: string,
  variables: Variables,
  budget: Budget,
): Steps<Checked<string>> {
  const parsed = expressions.parse(source, scope);
  if (!parsed.ok) return invalid(path, parsed.message);
  const evaluated = yield* expressions.evaluating(parsed.expression, variables, { budget });
  if (!evaluated.ok) return invalid(path, evaluated.message);
  if (evaluated.value === null) return invalid(path, 'evaluates to nothing; it must give a value to fingerprint');
  const { value } = evaluated;
  // Uses JSON here, because JSON escapes lone surrogates. UTF-8 would encode all lone surrogates as the same character,
  // so different values would have equal fingerprints.
  return valid(typeof value === 'string' && isWellFormed(value) ? value : JSON.stringify(value));
}

/** The data and metadata of a request. */
type Sent = { readonly data: Json | undefined; readonly metadata: Json | undefined };

/**
 * Returns whether a merge patch contains every value that the expression reads. If it does, the sender learns nothing
 * new from the fingerprint. A null that removes a value counts as this value. `sent` contains the values of the patch
 * in their stored form, without its nulls. `stored` contains the token's data and metadata after the request. Threat: a
 * caller sends `PATCH {}`, and the response contains the fingerprint of a value that the caller may not see.
 */
export function carriesFingerprint(
  expressions: Expressions,
  source: string,
  patch: Sent,
  sent: Sent,
  stored: Variables,
): boolean {
  const parsed = expressions.parse(source, scope);
  if (!parsed.ok) return false;
  return parsed.expression.reads.every(({ variable, path }) => {
    const part = variable === 'metadata' ? 'metadata' : 'data';
    const given = removes(patch[part], path) ? null : valueAt(sent[part], path);
    const held = valueAt(stored[part] ?? null, path);
    return given !== undefined && isDeepStrictEqual(given, held ?? null);
  });
}

/** Returns whether the data in a patch contains part of the data that the expression reads. */
export function carriesPart(expressions: Expressions, source: string, patch: Json | undefined): boolean {
  const parsed = expressions.parse(source, scope);
  if (!parsed.ok) return false;
  return parsed.expression.reads.some(
    ({ variable, path }) => variable === 'data' && (removes(patch, path) || valueAt(patch, path) !== undefined),
  );
}

/**
 * Returns whether no value is at the path after a merge patch, whatever was there before. The path meets a null, or it
 * leads into a text, a number or an array that replaces what was there.
 */
function removes(patch: Json | undefined, path: readonly Json[]): boolean {
  let found = patch;
  for (const key of path) {
    if (found === undefined || found === null) break;
    const next = ownValue(found, key);
    found = next === undefined && !isJsonObject(found) ? null : next;
  }
  return found === null;
}

/** Returns the value at a path, or undefined if the path does not lead to a value. */
function valueAt(value: Json | undefined, path: readonly Json[]): Json | undefined {
  let found = value;
  for (const key of path) found = found === undefined ? undefined : ownValue(found, key);
  return found;
}
