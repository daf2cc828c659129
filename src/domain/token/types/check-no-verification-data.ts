import { type Checked, type FieldErrors, valid } from '../../field-errors.js';
import type { Json, JsonObject } from '../../json.js';
import { printableKey } from '../../printable-key.js';

const forbidden: ReadonlySet<string> = new Set([
  'cvc',
  'cvv',
  'cvv2',
  'cvc2',
  'cid',
  'csc',
  'securitycode',
  'verificationvalue',
  'track',
  'track1',
  'track2',
  'trackdata',
  'pin',
  'pinblock',
]);

const errorsMax = 10;
/** A longer key is no name of ours. Threat: folding huge ones makes each many times as long. */
const keyCharactersMax = 64;

/**
 * Refuses card verification data anywhere in card data but in `data.cvc`, naming each place (at most 10). The name
 * alone decides, whatever the value. Threat: a code or a PIN under a key that we do not purge would be kept for good,
 * which PCI DSS 3.3 forbids after authorization. Contract, section 3.
 */
export function checkNoVerificationData(data: JsonObject): Checked<null> {
  const errors: Record<string, readonly string[]> = {};
  for (const path of forbiddenPaths(data, 'data')) {
    errors[path] = ['card verification data is only accepted as data.cvc'];
    if (Object.keys(errors).length === errorsMax) break;
  }
  return Object.keys(errors).length === 0 ? valid(null) : { ok: false, errors: errors satisfies FieldErrors };
}

function* forbiddenPaths(value: Json, path: string): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  const isArray = Array.isArray(value);
  for (const [key, child] of Object.entries(value)) {
    const childPath = isArray ? `${path}[${key}]` : `${path}.${printableKey(key)}`;
    if (childPath === 'data.cvc') continue;
    if (!isArray && key.length <= keyCharactersMax && forbidden.has(bareName(key))) yield childPath;
    else yield* forbiddenPaths(child, childPath);
  }
}

/** Letters and digits only, without regard to case; compatibility forms such as full-width letters are folded. */
function bareName(key: string): string {
  return key
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}
