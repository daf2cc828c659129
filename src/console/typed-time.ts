import { parseBound } from '../domain/time.js';

/** A time in the form in which pages show it: `2026-01-31 12:00`, optionally with seconds and ` UTC`. */
const shownShape = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}(?::\d{2})?)(?: UTC)?$/;

/**
 * Parses a bound of a period that a person typed, in milliseconds since the epoch. Accepts a time as the console shows
 * it, in addition to the formats that the API accepts. Returns null for any other text.
 */
export function parseTypedTime(text: string): number | null {
  return parseBound(text.trim().replace(shownShape, '$1T$2Z'));
}
