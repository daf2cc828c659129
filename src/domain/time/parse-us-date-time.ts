import { instantOf } from './instant.js';
import { parseOffset } from './parse-offset.js';

// U+202F: what .NET and ICU write before AM and PM since CLDR 42.
const shape = /^(\d{1,2})\/(\d{1,2})\/(\d{4})(?: (\d{1,2}):(\d{2}):(\d{2})[ \u202f](AM|PM)(?: ([+-]\d{2}:\d{2}))?)?$/i;

/**
 * Milliseconds since the epoch of `M/D/YYYY h:mm:ss AM|PM ±hh:mm`, the same without offset (UTC) or `M/D/YYYY` (midnight
 * UTC); null for anything else. Month, day and hour may have a leading zero. Contract, section 8.
 */
export function parseUsDateTime(text: string): number | null {
  const match = shape.exec(text);
  if (match === null) return null;
  const [, month, day, year, hour = '12', minute = '0', second = '0', half = 'AM', offset] = match;
  const offsetMinutes = parseOffset(offset);
  if (offsetMinutes === null || Number(hour) < 1 || Number(hour) > 12) return null;
  return instantOf({
    year: Number(year),
    month: Number(month),
    day: Number(day),
    hour: (Number(hour) % 12) + (half.toUpperCase() === 'PM' ? 12 : 0),
    minute: Number(minute),
    second: Number(second),
    millisecond: 0,
    offsetMinutes,
  });
}
