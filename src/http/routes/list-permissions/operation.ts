import { z } from 'zod';
import { applicationTypes } from '../../../domain/access/application-type.js';
import { documented } from '../../openapi/operation.js';
import { permission } from '../../openapi/schemas/permission.js';

export const listPermissionsOperation = documented({
  id: 'listPermissions',
  tag: 'Applications',
  summary: 'List permissions',
  description: 'All permissions, or those that an application of a type may hold.',
  query: z.object({
    application_type: z
      .enum(applicationTypes)
      .optional()
      .meta({ description: 'Repeated: those of any of the types. Another word than these: none.' }),
  }),
  answers: {
    200: {
      description: 'The permissions.',
      schema: z.array(permission),
      example: [
        {
          type: 'token:create',
          description: 'Create tokens, also by tokenize',
          application_types: ['private', 'public'],
        },
      ],
    },
  },
});
