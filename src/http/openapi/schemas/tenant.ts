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
      show_fingerprints: setting.meta({
        description:
          'Whether callers below `reveal` are shown the fingerprints of tokens. Equal values have equal fingerprints: ' +
          'such a caller that may also create tokens finds out hidden values by trying candidates.',
      }),
    }),
    ...stamps,
    _warnings: z.array(z.string()).optional().meta({ description: 'What the settings that are in force give away.' }),
  })
  .meta({ id: 'Tenant' });
