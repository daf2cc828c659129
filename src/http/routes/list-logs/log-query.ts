import { z } from 'zod';
import { accessEntities, accessOperations } from '../../../commands/access-log/operation.js';
import type { LogFilter } from '../../../commands/access-log/read-log.js';
import { parseExpiresAt } from '../../../domain/time/parse-expires-at.js';
import { pageQuery } from '../../pagination.js';

const text = z.string({ error: 'must be given once' }).optional();

/** A word that entries can have: for a misspelt one "nothing was done" would be a wrong answer. */
function oneOf<const Word extends string>(words: readonly Word[]) {
  return z.enum(words, { error: `must be one of ${words.join(', ')}, and given once` }).optional();
}

/** A moment in one of the formats of section 8. */
const time = z
  .string({ error: 'must be given once' })
  .transform((given, context) => {
    const ms = timeOf(given);
    if (ms === null) context.addIssue({ code: 'custom', message: 'must be a date or date-time' });
    return ms;
  })
  .optional();

/** The query string of `GET /logs`. Unknown parameters are ignored. */
export const logQuery = z.object({
  ...pageQuery,
  entity_type: oneOf(accessEntities),
  entity_id: text,
  operation: oneOf(accessOperations),
  start_date: time,
  end_date: time,
});

export function logFilterOf(query: z.output<typeof logQuery>): LogFilter {
  return {
    entityType: query.entity_type ?? null,
    entityId: query.entity_id ?? null,
    operation: query.operation ?? null,
    from: query.start_date ?? null,
    to: query.end_date ?? null,
  };
}

/** A plus sign that was not percent-encoded arrives as a space: `...T12:00:00.000+00:00` is what our answers hold. */
function timeOf(given: string): number | null {
  return parseExpiresAt(given) ?? parseExpiresAt(given.replace(/ (\d{2}:?\d{2})$/, '+$1'));
}
