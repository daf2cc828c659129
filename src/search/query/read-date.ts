import { parseIsoDateTime } from '../../domain/time.js';
import { QueryError } from './query-error.js';
import type { DateField, Query } from './syntax-tree.js';
import type { TextValue, Value } from './token.js';

const dayMs = 86_400_000;
const dateOnly = /^\d{4}-\d{2}-\d{2}$/;

/**
 * A date alone means the whole day, a date-time alone its millisecond; in a range a date is its first instant in UTC.
 * Throws QueryError for what is no ISO 8601 date.
 */
export function readDate(field: DateField, value: Value): Query {
  if (value.is === 'text') {
    const from = instant(value);
    return { is: 'date', field, from, to: from + (dateOnly.test(value.text) ? dayMs : 1) };
  }
  const from = end(value.from);
  const to = end(value.to);
  return {
    ...{ is: 'date', field },
    from: from === null || value.fromIncluded ? from : from + 1,
    to: to === null || !value.toIncluded ? to : to + 1,
  };
}

function end(value: TextValue): number | null {
  return value.text === '*' && !value.quoted ? null : instant(value);
}

function instant({ text, at }: TextValue): number {
  const ms = parseIsoDateTime(text);
  if (ms === null) throw new QueryError('not an ISO 8601 date or date-time, such as 2026-01-31', at);
  return ms;
}
