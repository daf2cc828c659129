import { InvalidArgumentError } from 'commander';
import { pageSizeMax } from '../http/pagination.js';

/** Parses an option's value as a whole number of at least 1. Throws a usage error for any other value. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text) || Number(text) < 1) throw new InvalidArgumentError('It must be a whole number from 1.');
  return Number(text);
}

/** Parses an option's value as the size of a page. Throws a usage error if no page can have this size. */
export function pageSize(text: string): number {
  if (/^\d{1,15}$/.test(text) && Number(text) >= 1 && Number(text) <= pageSizeMax) return Number(text);
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${pageSizeMax}.`);
}
