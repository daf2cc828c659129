import { isDeepStrictEqual } from 'node:util';
import type { Expressions } from '../expressions/expressions.js';
import { type Checked, errorsOf, invalid, valid } from '../field-errors.js';
import { isJsonObject, type Json } from '../json.js';
import type { Steps } from '../steps.js';
import type { TokenContent } from './content.js';
import type { ContentDraft } from './derive-content.js';
import { checkContainers } from './fields/containers.js';
import { checkRawSize } from './fields/content-size.js';
import { checkExpiresAt } from './fields/expires-at.js';
import { carriesFingerprint, checkFingerprintExpression } from './fields/fingerprint-expression.js';
import { checkGrowth, mergePatch } from './fields/merge-patch.js';
import { checkMetadata } from './fields/metadata.js';
import { checkSearchIndexes } from './fields/search-indexes.js';
import type { TypeRule } from './types/type-rule.js';
import { typeRules } from './types/type-rules.js';

/**
 * The fields of an update request. A field that is absent stays unchanged. Null resets a field to its default or
 * removes it (docs/contract.md, "Null and absent fields").
 */
export type TokenPatch = {
  readonly id?: Json | undefined;
  readonly type?: Json | undefined;
  readonly data?: Json | undefined;
  readonly mask?: Json | undefined;
  readonly containers?: Json | undefined;
  readonly metadata?: Json | undefined;
  readonly search_indexes?: readonly string[] | null | undefined;
  readonly fingerprint_expression?: string | null | undefined;
  readonly deduplicate_token?: boolean | null | undefined;
  readonly expires_at?: string | null | undefined;
};

/**
 * Checks everything in a patch that does not depend on stored data. This check can therefore run before the token is
 * read.
 */
export function checkPatch(expressions: Expressions, patch: TokenPatch, now: number): Checked<null> {
  const size = checkRawSize(patch);
  if (!size.ok) return size;
  const passed = valid(null);
  const errors = errorsOf([
    patch.data === null ? invalid('data', 'must not be null') : passed,
    patch.containers == null ? passed : checkContainers(patch.containers),
    patch.search_indexes == null ? passed : checkSearchIndexes(expressions, patch.search_indexes),
    patch.fingerprint_expression == null
      ? passed
      : checkFingerprintExpression(expressions, patch.fingerprint_expression),
    patch.mask == null ? passed : expressions.parseMask(patch.mask),
    patch.metadata == null ? passed : checkMetadata(mergePatch({}, patch.metadata)),
    checkExpiresAt(patch.expires_at ?? null, now),
  ]);
  return errors === null ? passed : { ok: false, errors };
}

/** Returns the token's containers after a checked patch. */
export function containersAfter(content: TokenContent, patch: TokenPatch): readonly string[] {
  if (patch.containers === undefined) return content.containers;
  if (patch.containers === null) return [typeRules[content.type].defaultContainer];
  const checked = checkContainers(patch.containers);
  return checked.ok ? checked.value : content.containers;
}

/** Returns the token's expressions after a patch, without evaluating them. */
export function expressionsAfter(content: TokenContent, patch: TokenPatch) {
  const rule = typeRules[content.type];
  return {
    mask: maskAfter(content.mask, patch.mask, rule),
    search_indexes: indexesAfter(content.search_indexes, patch.search_indexes, rule),
    fingerprint_expression:
      patch.fingerprint_expression === undefined
        ? content.fingerprint_expression
        : (patch.fingerprint_expression ?? rule.defaultFingerprintExpression),
  };
}

function maskAfter(before: Json, patch: Json | undefined, rule: TypeRule): Json {
  if (patch === undefined) return before;
  return patch === null ? rule.defaultMask : mergePatch(before, patch);
}

function indexesAfter(
  before: readonly string[] | null,
  patch: readonly string[] | null | undefined,
  { defaultSearchIndexes }: TypeRule,
): readonly string[] | null {
  if (patch === undefined) return before;
  return patch ?? (defaultSearchIndexes.length === 0 ? null : defaultSearchIndexes);
}

export type UpdateDraft = {
  readonly draft: ContentDraft;
  /** The names of the changed top-level fields. */
  readonly changed: readonly string[];
  /** Whether data other than the cvc changes. */
  readonly dataReplaced: boolean;
  readonly cvc:
    | { readonly kind: 'kept' }
    | { readonly kind: 'removed' }
    | { readonly kind: 'set'; readonly value: string };
  readonly expiresAt: number | null;
  readonly ownValues: readonly string[];
  /** Whether the patch contains all of the token's own values. A caller that sends these values knows them already. */
  readonly ownValuesGiven: boolean;
  /** Whether the patch contains every value that the fingerprint is computed from. */
  readonly carriesFingerprint: boolean;
};

type Stored = { readonly content: TokenContent; readonly expiresAt: number | null; readonly hasCvc: boolean };

/**
 * Checks everything in a patch that depends on the stored token, but not on its data. Threat: a caller that may not see
 * the data sends a patch that always fails, because its id is wrong. If the size of the merged data were checked first,
 * the kind of the error would reveal that size, and nothing would ever be changed.
 */
export function checkStoredFields(content: TokenContent, patch: TokenPatch): Checked<null> {
  const metadata = mergeMetadata(content.metadata, patch.metadata);
  const errors = errorsOf([metadata, samePath(content.id, patch.id, 'id'), samePath(content.type, patch.type, 'type')]);
  return errors === null ? valid(null) : { ok: false, errors };
}

/**
 * Merges a checked patch into the stored token and checks the result (RFC 7386; docs/contract.md, "Token types"). Call
 * `checkStoredFields` first. Works in steps, because merging or comparing an object with 20,000 members takes tens of
 * milliseconds.
 */
export function* draftUpdate(
  expressions: Expressions,
  { content, expiresAt: expiresBefore, hasCvc }: Stored,
  patch: TokenPatch,
  now: number,
): Steps<Checked<UpdateDraft>> {
  const rule = typeRules[content.type];
  const after = expressionsAfter(content, patch);
  const merged = patch.data === undefined ? content.data : mergePatch(content.data, patch.data);
  yield;
  const size = checkRawSize({ data: merged, ...after });
  if (!size.ok) return size;
  const growth = patch.data === undefined ? size : checkGrowth(merged, patch.data, 'data');
  if (!growth.ok) return growth;
  yield;
  const data = patch.data === undefined ? valid({ data: merged, cvc: null }) : rule.validate(merged);
  yield;
  const metadata = mergeMetadata(content.metadata, patch.metadata);
  const mask = expressions.parseMask(after.mask);
  const expires = patch.expires_at === undefined ? valid(expiresBefore) : checkExpiresAt(patch.expires_at, now);
  if (!(data.ok && metadata.ok && mask.ok && expires.ok)) {
    return { ok: false, errors: errorsOf([data, metadata, mask, expires]) ?? {} };
  }
  const draft: ContentDraft = {
    type: content.type,
    data: data.value.data,
    containers: containersAfter(content, patch),
    metadata: metadata.value,
    ...after,
  };
  const cvc = cvcAfter(patch.data, data.value.cvc, content.type === 'card', hasCvc);
  const dataReplaced = patch.data !== undefined && !isDeepStrictEqual(draft.data, content.data);
  yield;
  const fields = ['mask', 'metadata', 'containers', 'search_indexes', 'fingerprint_expression'] as const;
  const changed = [
    ...(dataReplaced || cvc.kind !== 'kept' ? ['data'] : []),
    ...fields.filter((field) => !isDeepStrictEqual(draft[field], content[field])),
    ...(expires.value === expiresBefore ? [] : ['expires_at']),
  ];
  const ownValues = rule.ownValues(draft.data);
  const given = patch.data === undefined ? [] : rule.ownValues(patch.data);
  const alone = asStored(rule, patch.data);
  yield;
  return valid({
    draft,
    changed,
    dataReplaced,
    cvc,
    expiresAt: expires.value,
    ownValues,
    ownValuesGiven: isDeepStrictEqual(ownValues, given),
    carriesFingerprint: carriesFingerprint(
      expressions,
      draft.fingerprint_expression,
      { data: patch.data, metadata: patch.metadata },
      { data: alone, metadata: patch.metadata === undefined ? undefined : mergePatch(undefined, patch.metadata) },
      draft,
    ),
  });
}

/**
 * Returns the data of a patch in its stored form, without its nulls. If the data is missing something that the token
 * type requires, its values are not normalized.
 */
export function asStored(rule: TypeRule, data: Json | undefined): Json | undefined {
  if (data === undefined) return undefined;
  const alone = mergePatch(undefined, data);
  const checked = rule.validate(alone);
  return checked.ok ? checked.value.data : alone;
}

function mergeMetadata(before: TokenContent['metadata'], patch: Json | undefined): Checked<TokenContent['metadata']> {
  if (patch === undefined) return valid(before);
  return patch === null ? valid(null) : checkMetadata(mergePatch(before ?? {}, patch));
}

/**
 * Returns the change that a patch makes to the stored cvc. A patch that does not contain a cvc keeps the stored cvc.
 */
function cvcAfter(patch: Json | undefined, value: string | null, isCard: boolean, hasCvc: boolean): UpdateDraft['cvc'] {
  if (!isCard || !isJsonObject(patch) || patch['cvc'] === undefined) return { kind: 'kept' };
  if (value !== null) return { kind: 'set', value };
  return { kind: hasCvc ? 'removed' : 'kept' };
}

function samePath(before: string, patch: Json | undefined, path: string): Checked<null> {
  return patch === undefined || patch === before ? valid(null) : invalid(path, 'cannot be changed');
}
