import { type Checked, invalid, valid } from '../../field-errors.js';
import { parseExpiresAt } from '../../time/parse-expires-at.js';

const path = 'expires_at';

/** When a token ends, milliseconds since the epoch; null: never. `now` must lie before it. Contract, section 8. */
export function checkExpiresAt(text: string | null, now: number): Checked<number | null> {
  if (text === null) return valid(null);
  const expiresAt = parseExpiresAt(text);
  if (expiresAt === null) return invalid(path, 'must be a possible ISO 8601 date or date-time, or M/D/YYYY h:mm:ss AM');
  return expiresAt > now ? valid(expiresAt) : invalid(path, 'must lie in the future');
}
