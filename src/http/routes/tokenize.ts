import { z } from 'zod';
import { type CreateRequest, createTokens } from '../../commands/tokens/create-tokens.js';
import { createSharedBudget } from '../../domain/expressions/budget.js';
import { type Checked, errorsOf, invalid, valid } from '../../domain/field-errors.js';
import { isJsonObject, type Json } from '../../domain/json.js';
import { errorsUnder, fieldPath } from '../../domain/json-path.js';
import { jsonText } from '../../domain/json-text.js';
import { replaceValues } from '../../domain/replace-values.js';
import type { Steps } from '../../domain/steps.js';
import { release } from '../../queries/release.js';
import type { ShownToken } from '../../queries/token-answer.js';
import { jsonBodyOf } from '../body/json-body.js';
import { idempotencyOf } from '../idempotency.js';
import { documented } from '../openapi/operation.js';
import { tokenExample } from '../openapi/schemas/token.js';
import { Problem, problemFrom } from '../problem/problem.js';
import { callerOf, contextOf } from '../request-state.js';
import type { Routes } from '../routes.js';
import { sendText } from '../send-json.js';
import { createTokenBody } from '../token-body.js';

const operation = documented({
  id: 'tokenize',
  tag: 'Tokenization',
  summary: 'Replace values in any JSON with tokens',
  description:
    'Replaces each object that has `type` and `data` with the token that it creates, and each other string, ' +
    'number and boolean with the id of a new token. One request creates at most 100 tokens, either all or none.',
  requestHeaders: ['SERVICE-IDEMPOTENCY-KEY'],
  requestExample: {
    name: 'Ada Lovelace',
    card: { type: 'card', data: { number: '4242424242424242' } },
    note: null,
  },
  answers: {
    200: {
      description: 'The same JSON with tokens in place of values.',
      schema: z.unknown(),
      example: { name: '8a1f4f0e-9a51-4c52-9b7d-0c5c0a4f6d0b', card: tokenExample, note: null },
    },
  },
  problems: [
    'validation_failed',
    'forbidden',
    'token_not_found',
    'id_in_use',
    'idempotency_in_flight',
    'idempotent_result_gone',
    'idempotent_shape_differs',
    'guesses_exhausted',
    'deduplication_misses_exhausted',
  ],
});

/** `POST /tokenize` (docs/contract.md, "Tokenize"). */
export const tokenizeRoute: Routes = (app, { vault, limits }, headerNames) => {
  app.post(
    '/tokenize',
    { config: { permission: 'token:create', mediaType: 'application/json', operation } },
    async (request, reply) => {
      const body = jsonBodyOf(request);
      const idempotency = idempotencyOf(request, headerNames.idempotencyKey, '/tokenize');
      const slices = vault.turns.begin(callerOf(request).tenantId);
      const parts = await slices.run(readParts(body));
      if (!parts.ok) throw new Problem('validation_failed', { errors: parts.errors });
      const context = { idempotency, ...contextOf(request) };
      await limits.weigh(context.caller, parts.value.length);
      const result = await createTokens(vault, context, parts.value);
      if (!result.ok) throw problemFrom(result);
      const isShown = (index: number) => parts.value[index]?.isValue !== true;
      const answers = result.value.map(
        (token, index): ShownToken => (isShown(index) ? token : { ...token, transform: 'redact' }),
      );
      const render = await release(vault, context, answers, createSharedBudget());
      const shown: Json[] = [];
      // In the response, each bare value is replaced with its token's id, and each create request with its token
      // object.
      for (const [index, token] of result.value.entries()) {
        const replacement = isShown(index) ? await slices.run(render(token)) : token.id;
        if (replacement === null) throw new Problem('token_not_found');
        shown.push(replacement);
      }
      const replacements = shown.values();
      const answer = await slices.run(withReplaced(body, () => replacements.next().value ?? null));
      return sendText(reply, 200, await slices.run(jsonText(answer)));
    },
  );
};

const tokensMax = 100;

/**
 * Returns the tokens requested in a body. Checks only the JSON types of their fields. The domain checks everything
 * else.
 */
function* readParts(body: Json): Steps<Checked<readonly CreateRequest[]>> {
  const places = yield* placesOf(body, tokensMax + 1);
  if (places.length > tokensMax) return invalid('body', `must contain at most ${tokensMax} tokens`);
  const parts = places.map(readPart);
  const errors = errorsOf(parts);
  return errors === null ? valid(parts.flatMap((part) => (part.ok ? [part.value] : []))) : { ok: false, errors };
}

function readPart({ value, isRequest, path }: Place): Checked<CreateRequest> {
  if (!isRequest) return valid({ request: { type: 'token', data: value }, path, isValue: true });
  const parsed = createTokenBody.safeParse(value);
  if (parsed.success) return valid({ request: parsed.data, path, isValue: false });
  const issues = parsed.error.issues.map((issue) => invalid(fieldPath(issue.path), issue.message));
  return { ok: false, errors: errorsUnder(path, errorsOf(issues) ?? {}) };
}

/** A place in a request body where a token is created. Its value is either a create request or a bare value. */
type Place = { readonly value: Exclude<Json, null>; readonly isRequest: boolean; readonly path: string };

/**
 * Returns at most `max` places of a body, in the order in which they appear in the text (docs/contract.md, "Tokenize").
 * An object with `type` and `data` is a create request, even if it has other fields. Outside create requests, every
 * value except null is a place.
 */
function* placesOf(body: Json, max: number): Steps<readonly Place[]> {
  const places: Place[] = [];
  yield* replaceValues(body, (value, pathOf) => {
    if (value === null || !isPlace(value)) return undefined;
    if (places.length < max) places.push({ value, isRequest: isCreateRequest(value), path: pathOf() });
    return null;
  });
  return places;
}

/**
 * Returns the body with the value at each place replaced by the result of `next`. Visits the places in the same order
 * as `placesOf`.
 */
function withReplaced(body: Json, next: () => Json): Steps<Json> {
  return replaceValues(body, (value) => (isPlace(value) ? next() : undefined));
}

function isPlace(value: Json): boolean {
  return isCreateRequest(value) || (value !== null && typeof value !== 'object');
}

function isCreateRequest(value: Json): boolean {
  return isJsonObject(value) && Object.hasOwn(value, 'type') && Object.hasOwn(value, 'data');
}
