import { z } from 'zod';
import { tokenPermissions } from '../../../domain/access/permission.js';
import { transforms } from '../../../domain/access/transform.js';

/** A rule as answers show it (contract, section 4). */
export const accessRule = z
  .object({
    description: z.string().optional(),
    priority: z.number().meta({ type: 'integer', description: 'Lower ones are tried first.' }),
    container: z.string().meta({ description: 'Lower case, with `/` at both ends; it covers its children.' }),
    transform: z.enum(transforms).meta({ description: 'What is shown of the data.' }),
    permissions: z.array(z.enum(tokenPermissions)),
  })
  .meta({ id: 'AccessRule', description: 'What may be done with the tokens under a container, and what is shown.' });
