import { z } from 'zod';
import { dateTime, wholeNumber } from './formats.js';

const eventTypes = [
  ...(['token.created', 'token.updated', 'token.deleted'] as const),
  ...(['token.expired', 'token.property.expired'] as const),
];

/** Something that happened to a token; never a value (contract, section 10). */
export const historyEntry = z
  .object({
    type: z.enum(eventTypes),
    revision: wholeNumber,
    actor_id: z.string().meta({ description: 'The id of an application; `system`: it was due.' }),
    trace_id: z.string().optional().meta({ description: 'Of the request. Absent: no request led to it.' }),
    created_at: dateTime,
    changed: z.array(z.string()).meta({ description: 'Names of the fields that changed.' }),
    life: wholeNumber
      .optional()
      .meta({ minimum: 1, description: 'Which life of the id, from 1; only with `log:read`.' }),
  })
  .meta({ id: 'HistoryEntry' });
