import { z } from 'zod';
import { applicationTypes } from '../../../domain/access/application-type.js';
import { managementPermissions, tokenPermissions } from '../../../domain/access/permission.js';
import { accessRule } from './access-rule.js';
import { dateTime, uuid } from './formats.js';
import { stamps } from './stamps.js';

const fields = {
  id: uuid,
  tenant_id: uuid,
  name: z.string(),
  type: z.enum(applicationTypes),
  permissions: z
    .array(z.enum([...tokenPermissions, ...managementPermissions]))
    .optional()
    .meta({ description: 'Held for every token; absent when it has rules.' }),
  rules: z.array(accessRule).optional().meta({ description: 'Absent when it has permissions.' }),
  expires_at: dateTime.optional().meta({ description: 'From then on its keys are refused. Absent: never.' }),
  ...stamps,
};

/** An application, which never shows a key (contract, section 10). */
export const application = z.object(fields).meta({ id: 'Application' });

/** What its creation answers: the only time that the first key is shown. */
export const applicationWithKey = z
  .object({
    ...fields,
    key: z.string().optional().meta({ description: 'The first key, shown this once; a repeat does not show it.' }),
  })
  .meta({ id: 'ApplicationWithKey' });
