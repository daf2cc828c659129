import { parseIsoDateTime } from './parse-iso-date-time.js';
import { parseUsDateTime } from './parse-us-date-time.js';

/**
 * Milliseconds since the epoch of an `expires_at` as a request may write it; null when it has none of the accepted
 * formats or names no possible moment. Contract, section 8.
 */
export function parseExpiresAt(text: string): number | null {
  return parseUsDateTime(text) ?? parseIsoDateTime(text);
}
