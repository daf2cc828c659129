import { type Checked, invalid, valid } from '../domain/field-errors.js';

type Query = Readonly<Record<string, unknown>>;

/** A query parameter that may be given once; null without it. */
export function textOf(query: Query, name: string): Checked<string | null> {
  const value = query[name];
  if (value === undefined) return valid(null);
  return typeof value === 'string' ? valid(value) : invalid(name, 'must be given once');
}

/** A whole number from 1 to `max`. */
export function wholeNumberOf(
  query: Query,
  name: string,
  limits: { readonly default: number; readonly max: number },
): Checked<number> {
  const given = textOf(query, name);
  if (!given.ok) return given;
  if (given.value === null) return valid(limits.default);
  const value = /^[0-9]{1,16}$/.test(given.value) ? Number(given.value) : 0;
  if (value >= 1 && value <= limits.max) return valid(value);
  const upTo = limits.max === Number.MAX_SAFE_INTEGER ? 'of at least 1' : `from 1 to ${limits.max}`;
  return invalid(name, `must be a whole number ${upTo}`);
}
