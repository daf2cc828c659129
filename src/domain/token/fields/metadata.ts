import { type Checked, errorsOf, invalid, valid } from '../../field-errors.js';
import { isJsonObject, type Json } from '../../json.js';
import { memberPath } from '../../json-path.js';
import { codePointCount, isWellFormed } from '../../text.js';

const keysMax = 50;
const keyCharactersMax = 100;
const valueCharactersMax = 1_000;

/**
 * Checks metadata at creation and after a merge patch. Metadata maps strings to strings. It can have up to 50 keys of
 * 1-100 characters each, and each value is limited to 1,000 characters. A value may be empty. See docs/contract.md,
 * "Metadata".
 */
export function checkMetadata(value: Json): Checked<Readonly<Record<string, string>>> {
  if (!isJsonObject(value)) return invalid('metadata', 'must be an object whose values are strings');
  if (Object.keys(value).length > keysMax) return invalid('metadata', `must have at most ${keysMax} keys`);
  const metadata = new Map<string, string>();
  const failures: Checked<never>[] = [];
  for (const [key, item] of Object.entries(value)) {
    const entry = checkEntry(key, item);
    if (entry.ok) metadata.set(key, entry.value);
    else failures.push(entry);
  }
  const errors = errorsOf(failures);
  return errors === null ? valid(Object.fromEntries(metadata)) : { ok: false, errors };
}

/** Checks one entry. The error for an invalid key is reported at `metadata`, so that it does not repeat the key. */
function checkEntry(key: string, value: Json): Checked<string> {
  if (key === '' || codePointCount(key) > keyCharactersMax) {
    return invalid('metadata', `a key must have 1 to ${keyCharactersMax} characters`);
  }
  if (!isWellFormed(key)) return invalid('metadata', 'a key must be well-formed Unicode');
  const path = memberPath('metadata', key);
  if (typeof value !== 'string') return invalid(path, 'must be a string');
  if (codePointCount(value) > valueCharactersMax) {
    return invalid(path, `must have at most ${valueCharactersMax} characters`);
  }
  return isWellFormed(value) ? valid(value) : invalid(path, 'must be well-formed Unicode');
}
