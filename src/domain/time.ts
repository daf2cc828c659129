/**
 * Parses the `expires_at` of a request into milliseconds since the epoch (docs/contract.md, "Expiry formats"). Returns
 * null if the text is not in an accepted format or if the time does not exist.
 */
export function parseExpiresAt(text: string): number | null {
  return parseUsDateTime(text) ?? parseIsoDateTime(text);
}

// Since CLDR 42, .NET and ICU write U+202F before AM and PM.
const usShape =
  /^(\d{1,2})\/(\d{1,2})\/(\d{4})(?: (\d{1,2}):(\d{2}):(\d{2})[ \u202f](AM|PM)(?: ([+-]\d{2}:\d{2}))?)?$/i;

/**
 * Parses `M/D/YYYY`, optionally followed by a time (`h:mm:ss AM|PM`) and an offset (`±hh:mm`). The default time is
 * midnight, and the default offset is UTC. The month, day and hour may have a leading zero. Returns null for any other
 * text.
 */
function parseUsDateTime(text: string): number | null {
  const match = usShape.exec(text);
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

const isoShape =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?([Zz]|[+-]\d{2}(?::?\d{2})?)?)?$/;

/**
 * Parses an ISO 8601 date (`2026-01-31`, midnight UTC) or a date-time in the extended format into milliseconds since
 * the epoch. Seconds, a fraction of up to nine digits and an offset (default UTC) are optional. Truncates fractions to
 * milliseconds, so that a token never outlives the requested time. Returns null for any other text.
 */
export function parseIsoDateTime(text: string): number | null {
  const match = isoShape.exec(text);
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

/**
 * Parses a bound of a period in the formats of `parseExpiresAt`. If the time is between two milliseconds, returns the
 * second of them, but never a time after the year 9999. Returns null for any other text.
 */
export function parseBound(text: string): number | null {
  const ms = parseExpiresAt(text);
  return ms !== null && isTruncated(text) ? Math.min(ms + 1, fourDigitYears.latestMs) : ms;
}

/** Returns true if `parseIsoDateTime` truncates this valid text, because the time is between two milliseconds. */
export function isTruncated(text: string): boolean {
  return /[.,]\d{3}0*[1-9]/.test(text);
}

const offsetShape = /^([+-])(\d{2})(?::?(\d{2}))?$/;

/**
 * Parses `Z`, `±hh:mm`, `±hhmm` or `±hh` into minutes east of UTC. Undefined means UTC. Returns null for any other text
 * and for minutes over 59. `instantOf` checks that the offset is at most 14 hours.
 */
function parseOffset(text: string | undefined): number | null {
  if (text === undefined || text === 'Z' || text === 'z') return 0;
  const [, sign, hours, minutes = '0'] = offsetShape.exec(text) ?? [];
  if (hours === undefined || Number(minutes) > 59) return null;
  return (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1);
}

/** The parts of a parsed time. `month` counts from 1, `hour` is 0-23, and `offsetMinutes` is positive east of UTC. */
type DateTimeParts = {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly millisecond: number;
  readonly offsetMinutes: number;
};

const offsetMinutesMax = 14 * 60;

/**
 * Converts a parsed time to milliseconds since the epoch. Returns null if the time does not exist (such as 30 February,
 * 24:61, an offset past 14:00 or a leap second) or if it does not have a four-digit year in UTC.
 */
function instantOf(parts: DateTimeParts): number | null {
  const { year, month, day, hour, minute, second, millisecond, offsetMinutes } = parts;
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return null;
  if (hour > 23 || minute > 59 || second > 59) return null;
  if (Math.abs(offsetMinutes) > offsetMinutesMax) return null;
  // Date.UTC would interpret the years 0-99 as 1900-1999.
  const midnightMs = new Date(0).setUTCFullYear(year, month - 1, day);
  const ms = midnightMs + ((hour * 60 + minute - offsetMinutes) * 60 + second) * 1000 + millisecond;
  return ms >= fourDigitYears.earliestMs && ms <= fourDigitYears.latestMs ? ms : null;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** The earliest and latest times with a four-digit year in UTC, in milliseconds since the epoch. */
const fourDigitYears = {
  earliestMs: -62_167_219_200_000, // 0000-01-01T00:00:00.000Z
  latestMs: 253_402_300_799_999, // 9999-12-31T23:59:59.999Z
} as const;

/**
 * Formats a time in milliseconds since the epoch in the format that all responses use: ISO 8601, UTC, with
 * milliseconds, such as `2026-01-31T12:00:00.000+00:00` (docs/contract.md, "HTTP conventions"). Throws a RangeError for
 * a time outside the years 0-9999.
 */
export function formatTimestamp(ms: number): string {
  if (!Number.isInteger(ms) || ms < fourDigitYears.earliestMs || ms > fourDigitYears.latestMs)
    throw new RangeError('not a moment of the years 0-9999');
  return `${new Date(ms).toISOString().slice(0, -1)}+00:00`;
}
