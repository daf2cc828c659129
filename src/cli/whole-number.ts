import { InvalidArgumentError } from 'commander';

/** Parses an option's value as a whole number of at least 1. Throws a usage error for any other value. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text) || Number(text) < 1) throw new InvalidArgumentError('It must be a whole number from 1.');
  return Number(text);
}
