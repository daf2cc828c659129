import { z } from 'zod';
import { uuid } from './formats.js';
import { stamps } from './stamps.js';

const setting = z.enum(['true', 'false']);

/** The tenant of the caller (contract, section 10). */
export const tenant = z
  .object({
    id: uuid,
    name: z.string(),
    settings: z.object({
      deduplicate_tokens: setting.meta({ description: 'Whether an equal token is returned instead of a new one.' }),
      keep_superseded_data: setting.meta({
        description: 'Whether data that an update replaces is kept until deletion.',
      }),
    }),
    ...stamps,
  })
  .meta({ id: 'Tenant' });
