import type { Caller } from '../domain/access/caller.js';
import { transformFor } from '../domain/access/decide-access.js';
import type { Transform } from '../domain/access/transform.js';
import {
  evaluateSlot,
  type Filled,
  fillTemplate,
  type Shown,
  templateBudget,
} from '../domain/detokenize/fill-template.js';
import { nameable } from '../domain/detokenize/nameable.js';
import type { Slot, Template } from '../domain/detokenize/parse-template.js';
import { createSharedBudget } from '../domain/expressions/budget.js';
import { cardBin, last4 } from '../domain/expressions/masks.js';
import { isJsonObject, type Json, type JsonObject } from '../domain/json.js';
import { Secret } from '../domain/secret.js';
import { tokenStream } from '../events/tokens/stream-name.js';
import { chargeUnknownIds } from '../vault/guesses.js';
import { type CommandResult, done, invalidFields, type Rejected, rejected } from '../vault/result.js';
import { tenantKeysOf } from '../vault/tenant-keys.js';
import type { Slices } from '../vault/turns.js';
import type { Vault } from '../vault/vault.js';
import { type ReadToken, type ReadTokenDeps, readToken } from './read-token.js';
import { confirmed, isMaskSkipped, type ReadContext, type ReleaseDeps, type Render, release } from './release.js';
import { type ShownToken, tokenAnswer } from './token-answer.js';

/**
 * The maximum total ciphertext size of the tokens that stay decrypted during a request. Tokens that exceed this limit
 * are decrypted again when they are needed.
 */
const keptBytesMax = 1024 * 1024;

/**
 * Replaces the expressions in a body with token values. The caller sees each value under the transform that the
 * permission `token:use` grants the caller (docs/contract.md, "Detokenize"). Before any expression is evaluated, the
 * function checks that all ids are known and that the caller has access to all of the tokens. It also records all
 * tokens in the access log beforehand, because even a failed evaluation reveals something about a value.
 */
export async function detokenize(
  vault: ReadTokenDeps & ReleaseDeps & Pick<Vault, 'guesses'>,
  context: ReadContext,
  template: Template,
): Promise<CommandResult<Secret<Json>>> {
  const { caller } = context;
  const slices = vault.turns.begin(caller.tenantId);
  const read = await readAll(vault, slices, caller, template);
  if (!read.ok) return confirmed(vault, context, read);
  const found = read.value;
  const render = await release(vault, context, [...found.values()], createSharedBudget());
  const values = await evaluateAll(vault, slices, caller, template, found, render);
  if (!values.ok) return values;
  const filled = await slices.run(
    fillTemplate(template, (slot) => {
      const value = values.value.get(slot);
      if (value === undefined) throw new Error('every expression of a template must have been evaluated');
      return value;
    }),
  );
  return filled.ok ? done(new Secret(filled.value)) : invalidFields(filled.errors);
}

/** A token named in a request. `kept` is the decrypted token, or null if the token does not fit into `keptBytesMax`. */
type Named = ShownToken & { readonly life: number; readonly kept: ReadToken | null };

async function readAll(
  vault: ReadTokenDeps & Pick<Vault, 'guesses'>,
  slices: Slices,
  caller: Caller,
  { ids }: Template,
): Promise<CommandResult<ReadonlyMap<string, Named>>> {
  const { tenantId } = caller;
  const { names } = await tenantKeysOf(vault, tenantId);
  const tokens = new Map<string, Named>();
  const unknown: (readonly [id: string, path: string])[] = [];
  let isForbidden = false;
  let bytes = 0;
  for (const [id, path] of ids) {
    await slices.pause();
    const stream = tokenStream(names, id);
    const read = await readToken(vault, tenantId, stream);
    if (read === null) {
      unknown.push([id, path]);
      continue;
    }
    const transform = transformFor(caller, 'token:use', read.open.containers);
    if (transform === null) {
      isForbidden = true;
      continue;
    }
    bytes += read.view.content?.length ?? 0;
    const kept = bytes <= keptBytesMax ? read : null;
    tokens.set(id, { stream, transform, recordedAs: 'read', life: read.life.createdRevision, kept });
  }
  // If the caller has used up its guesses, the request is rejected even if all ids are known. If the vault rejected
  // only requests with unknown ids, the rejection would reveal that an id is unknown.
  const refusal = await chargeUnknownIds(vault, caller, ids.size, unknown.length);
  if (refusal !== null) return refusal;
  if (unknown.length > 0) return unknownIds(unknown);
  return isForbidden ? rejected('forbidden') : done(tokens);
}

/**
 * Evaluates all expressions and returns their values. Processes one token at a time. If a token was deleted or
 * has expired after `readAll`, its id counts as unknown.
 */
async function evaluateAll(
  vault: ReadTokenDeps & Pick<Vault, 'expressions'>,
  slices: Slices,
  caller: Caller,
  { ids, leaves }: Template,
  tokens: ReadonlyMap<string, Named>,
  render: Render,
): Promise<CommandResult<ReadonlyMap<Slot, Filled>>> {
  const slots = new Map<string, Slot[]>();
  for (const part of [...leaves.values()].flat()) {
    if (part.kind === 'slot') slots.set(part.id, [...(slots.get(part.id) ?? []), part]);
  }
  const budget = templateBudget();
  const values = new Map<Slot, Filled>();
  for (const [id, { stream, transform, life, kept }] of tokens) {
    await slices.pause();
    const token = kept ?? (await readToken(vault, caller.tenantId, stream));
    const now = token === null ? null : transformFor(caller, 'token:use', token.open.containers);
    if (token === null || token.life.createdRevision !== life) return unknownIds([[id, ids.get(id) ?? 'body']]);
    // The token's containers changed after `readAll`, so the transform that was recorded in the access log no longer
    // applies.
    if (now !== transform) return rejected('forbidden');
    let shown: Shown = nothing;
    if (transform !== 'redact') {
      const body = await slices.run(render(tokenAnswer(caller, token, transform)));
      if (body === null) return unknownIds([[id, ids.get(id) ?? 'body']]);
      shown = shownIn(body, transform);
    }
    for (const slot of slots.get(id) ?? []) {
      values.set(slot, await slices.run(evaluateSlot(vault.expressions, slot, shown, budget)));
    }
  }
  return done(values);
}

const nothing: Shown = { data: null, whole: null };

/** Returns the parts of a token that the expressions in a body can use (docs/contract.md, "Detokenize"). */
function shownIn(body: JsonObject, transform: Transform): Shown {
  if (isMaskSkipped(body)) return 'skipped';
  return { data: body['data'] ?? null, whole: transform === 'reveal' ? { ...body, ...enrichments(body) } : body };
}

/**
 * Returns details that are derived from a card number. The details contain part of the number, so a caller gets them
 * only if it sees the whole number.
 */
function enrichments({ type, data }: JsonObject): JsonObject {
  const number = type === 'card' && isJsonObject(data) ? data['number'] : type === 'card_number' ? data : null;
  if (typeof number !== 'string') return {};
  const bin = cardBin(number);
  return { enrichments: { card_details: { ...(bin === null ? {} : { bin }), last4: last4(number) } } };
}

function unknownIds(unknown: readonly (readonly [id: string, path: string])[]): Rejected {
  const errors = new Map<string, string[]>();
  for (const [id, path] of unknown) {
    const message = nameable(id) ? `refers to an unknown token: ${id}` : 'refers to an unknown token';
    errors.set(path, [...(errors.get(path) ?? []), message]);
  }
  return invalidFields(Object.fromEntries(errors));
}
