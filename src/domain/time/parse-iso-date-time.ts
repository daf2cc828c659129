import { instantOf } from './instant.js';
import { parseOffset } from './parse-offset.js';

const shape =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?([Zz]|[+-]\d{2}(?::?\d{2})?)?)?$/;

/**
 * Milliseconds since the epoch of an ISO 8601 date (`2026-01-31`, midnight UTC) or date-time in the extended format, with
 * or without seconds, a fraction of up to nine digits and an offset (none: UTC); null for anything else. A fraction is cut to
 * milliseconds, so that nothing lives longer than written. Contract, section 8.
 */
export function parseIsoDateTime(text: string): number | null {
  const match = shape.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', offset] = match;
  const offsetMinutes = parseOffset(offset);
  if (offsetMinutes === null) return null;
  return instantOf({
    year: Number(year),
    month: Number(month),
    day: Number(day),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
    millisecond: Number(fraction.slice(0, 3).padEnd(3, '0')),
    offsetMinutes,
  });
}
