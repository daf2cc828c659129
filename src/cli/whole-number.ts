import { InvalidArgumentError } from 'commander';

/** The number of an option, from 1. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text) || Number(text) < 1) throw new InvalidArgumentError('It must be a whole number from 1.');
  return Number(text);
}
