import { z } from 'zod';
import { applicationTypes } from '../../../domain/access/application-type.js';
import { managementPermissions, tokenPermissions } from '../../../domain/access/permission.js';

/** A permission, with who may hold it (contract, section 10). */
export const permission = z
  .object({
    type: z.enum([...tokenPermissions, ...managementPermissions]),
    description: z.string(),
    application_types: z.array(z.enum(applicationTypes)).meta({ description: 'The types that may hold it.' }),
  })
  .meta({ id: 'Permission' });
