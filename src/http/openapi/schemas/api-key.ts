import { z } from 'zod';
import { dateTime, uuid } from './formats.js';

const fields = {
  id: uuid,
  created_by: z.string().meta({ description: 'The id of an application, or `operator`.' }),
  created_at: dateTime,
};

/** A living key, never the key itself (contract, section 10). */
export const apiKey = z
  .object({
    ...fields,
    last_used_at: z.string().optional().meta({ format: 'date', description: 'The day, in UTC. Absent: not used yet.' }),
  })
  .meta({ id: 'ApiKey', description: 'A living key, without the key itself.' });

/** What its issue answers: the only time that it is shown. */
export const issuedApiKey = z
  .object({
    ...fields,
    key: z.string().optional().meta({ description: 'The key itself, shown this once; a repeat does not show it.' }),
  })
  .meta({ id: 'IssuedApiKey' });
