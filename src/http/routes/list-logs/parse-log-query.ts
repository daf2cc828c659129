import type { LogFilter } from '../../../commands/access-log/read-log.js';
import { type Checked, errorsOf, invalid, valid } from '../../../domain/field-errors.js';
import { parseExpiresAt } from '../../../domain/time/parse-expires-at.js';
import { type PageNumber, pageOf } from '../../pagination.js';
import { textOf } from '../../query.js';

/** The query string of `GET /logs`. Unknown parameters are ignored; a word that no entry has finds nothing. */
export function parseLogQuery(
  query: Readonly<Record<string, unknown>>,
): Checked<{ readonly filter: LogFilter; readonly page: PageNumber }> {
  const entityType = textOf(query, 'entity_type');
  const entityId = textOf(query, 'entity_id');
  const operation = textOf(query, 'operation');
  const from = timeOf(query, 'start_date');
  const to = timeOf(query, 'end_date');
  const page = pageOf(query);
  if (entityType.ok && entityId.ok && operation.ok && from.ok && to.ok && page.ok) {
    const filter = {
      ...{ entityType: entityType.value, entityId: entityId.value, operation: operation.value },
      ...{ from: from.value, to: to.value },
    };
    return valid({ filter, page: page.value });
  }
  return { ok: false, errors: errorsOf([entityType, entityId, operation, from, to, page]) ?? {} };
}

/** A moment in one of the formats of section 8; null without it. */
function timeOf(query: Readonly<Record<string, unknown>>, name: string): Checked<number | null> {
  const text = textOf(query, name);
  if (!text.ok || text.value === null) return text.ok ? valid(null) : text;
  // A plus sign that was not percent-encoded arrives as a space: `...T12:00:00.000+00:00` is what our answers hold.
  const time = parseExpiresAt(text.value) ?? parseExpiresAt(text.value.replace(/ (\d{2}:?\d{2})$/, '+$1'));
  return time === null ? invalid(name, 'must be a date or date-time') : valid(time);
}
