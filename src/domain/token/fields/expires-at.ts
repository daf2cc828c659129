import { type Checked, invalid, valid } from '../../field-errors.js';
import { parseExpiresAt } from '../../time.js';

const path = 'expires_at';
const formats = '2030-01-31T12:00:00Z, 2030-01-31, 1/31/2030 or 1/31/2030 1:00:00 PM +01:00';

/**
 * Returns a token's expiry in milliseconds since the epoch, or null if it never expires. The expiry must be after
 * `now`. See docs/contract.md, "Expiry formats".
 */
export function checkExpiresAt(text: string | null, now: number): Checked<number | null> {
  if (text === null) return valid(null);
  const expiresAt = parseExpiresAt(text);
  if (expiresAt === null) return invalid(path, `must be a date or date-time that exists, written like ${formats}`);
  return expiresAt > now ? valid(expiresAt) : invalid(path, 'must be in the future');
}
