import type { Caller } from '../../domain/access/caller.js';
import type { Transform } from '../../domain/access/transform.js';
import type { Shown } from '../../domain/detokenize/fill-template.js';
import { cardBin } from '../../domain/expressions/filters/card-bin.js';
import { last4 } from '../../domain/expressions/filters/last4.js';
import { isJsonObject, type Json, type JsonObject } from '../../domain/json.js';
import type { TokenContent } from '../../domain/token/content.js';
import type { Vault } from '../vault.js';
import type { ReadToken } from './read-token.js';
import { tokenAnswer } from './token-answer.js';

/** A token as detokenize may use it; under `redact` nothing of it (contract, section 9). Made when it is looked at. */
export function shownToken(vault: Vault, caller: Caller, token: ReadToken, transform: Transform): Shown {
  let answer: JsonObject | null = null;
  const body = (): JsonObject => {
    answer ??= tokenAnswer(vault, caller, token, transform).body.reveal();
    return answer;
  };
  if (transform === 'redact') return { data: null, whole: () => null };
  return {
    get data(): Json {
      return body()['data'] ?? null;
    },
    whole: () => (transform === 'reveal' ? { ...body(), ...enrichments(token.open.content.reveal()) } : body()),
  };
}

/** What is known of a card beyond its data; it says part of the number, so only who sees all of it gets it. */
function enrichments({ type, data }: TokenContent): JsonObject {
  const number = type === 'card' && isJsonObject(data) ? data['number'] : type === 'card_number' ? data : null;
  if (typeof number !== 'string') return {};
  const bin = cardBin(number);
  return { enrichments: { card_details: { ...(bin === null ? {} : { bin }), last4: last4(number) } } };
}
