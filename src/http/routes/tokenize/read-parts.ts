import type { TokenizePart } from '../../../commands/tokens/tokenize.js';
import { type Checked, errorsOf, invalid, valid } from '../../../domain/field-errors.js';
import type { Json } from '../../../domain/json.js';
import { errorsUnder, itemPath, memberPath } from '../../../domain/json-path.js';
import type { Steps } from '../../../domain/steps.js';
import { createTokenBody } from '../../token-body.js';
import { type Place, placesOf } from './places.js';

const tokensMax = 100;

/** The tokens that a body asks for, by the JSON types of their fields alone; the domain checks the rest. */
export function* readParts(body: Json): Steps<Checked<readonly TokenizePart[]>> {
  const places = yield* placesOf(body, tokensMax + 1);
  if (places.length > tokensMax) return invalid('body', `must hold at most ${tokensMax} tokens`);
  const parts = places.map(readPart);
  const errors = errorsOf(parts);
  return errors === null ? valid(parts.flatMap((part) => (part.ok ? [part.value] : []))) : { ok: false, errors };
}

function readPart({ value, isRequest, path }: Place): Checked<TokenizePart> {
  if (!isRequest) return valid({ request: { type: 'token', data: value }, path, isValue: true });
  const parsed = createTokenBody.safeParse(value);
  if (parsed.success) return valid({ request: parsed.data, path, isValue: false });
  const issues = parsed.error.issues.map((issue) => invalid(fieldPath(issue.path), issue.message));
  return { ok: false, errors: errorsUnder(path, errorsOf(issues) ?? {}) };
}

function fieldPath(steps: readonly PropertyKey[]): string {
  return steps.reduce<string>(
    (path, step) => (typeof step === 'number' ? itemPath(path, step) : memberPath(path, String(step))),
    '',
  );
}
