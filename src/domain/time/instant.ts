import { fourDigitYears } from './four-digit-years.js';

/** The parts of a moment as a person writes them. `month` from 1, `hour` 0-23, `offsetMinutes` east of UTC. */
export type DateTimeParts = {
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
 * Milliseconds since the epoch of a written moment; null when there is no such moment (30 February, 24:61, an offset
 * past 14:00, a leap second) or when its year in UTC does not have four digits.
 */
export function instantOf(parts: DateTimeParts): number | null {
  const { year, month, day, hour, minute, second, millisecond, offsetMinutes } = parts;
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return null;
  if (hour > 23 || minute > 59 || second > 59) return null;
  if (Math.abs(offsetMinutes) > offsetMinutesMax) return null;
  // Date.UTC would read the years 0-99 as 1900-1999.
  const midnightMs = new Date(0).setUTCFullYear(year, month - 1, day);
  const ms = midnightMs + ((hour * 60 + minute - offsetMinutes) * 60 + second) * 1000 + millisecond;
  return ms >= fourDigitYears.earliestMs && ms <= fourDigitYears.latestMs ? ms : null;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
