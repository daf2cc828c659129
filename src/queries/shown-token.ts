import type { Caller } from '../domain/access/caller.js';
import type { Transform } from '../domain/access/transform.js';
import type { Shown } from '../domain/detokenize/fill-template.js';
import type { SharedBudget } from '../domain/expressions/budget.js';
import { cardBin, last4 } from '../domain/expressions/masks.js';
import { isJsonObject, type JsonObject } from '../domain/json.js';
import type { Steps } from '../domain/steps.js';
import type { TokenContent } from '../domain/token/content.js';
import type { Vault } from '../vault/vault.js';
import type { ReadToken } from './read-token.js';
import { isMaskSkipped, tokenAnswer } from './token-answer.js';

/** Returns a token as detokenize may use it; under `redact`, nothing of it (docs/contract.md, "Detokenize"). */
export function* shownToken(
  vault: Vault,
  caller: Caller,
  token: ReadToken,
  transform: Transform,
  shared: SharedBudget,
): Steps<Shown> {
  if (transform === 'redact') return { data: null, whole: null };
  const body = yield* tokenAnswer(vault, caller, token, transform).render(shared);
  if (isMaskSkipped(body)) return 'skipped';
  const whole = transform === 'reveal' ? { ...body, ...enrichments(token.open.content.reveal()) } : body;
  return { data: body['data'] ?? null, whole };
}

/** Returns details of a card. They contain part of the number, so only a caller that sees all of it gets them. */
function enrichments({ type, data }: TokenContent): JsonObject {
  const number = type === 'card' && isJsonObject(data) ? data['number'] : type === 'card_number' ? data : null;
  if (typeof number !== 'string') return {};
  const bin = cardBin(number);
  return { enrichments: { card_details: { ...(bin === null ? {} : { bin }), last4: last4(number) } } };
}
