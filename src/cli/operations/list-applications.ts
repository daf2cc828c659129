import { z } from 'zod';
import { applicationAnswer } from '../../commands/directory/directory-answers.js';
import { listApplications as list } from '../../commands/directory/list-applications.js';
import type { JsonObject } from '../../domain/json.js';
import { operation } from './operation.js';
import { tenantOrOnly } from './tenant-or-only.js';

const pageSize = 100;
const everything = { ids: null, types: null };

/** All living applications of a tenant, the newest first; never a key. */
export const listApplications = operation(
  z.object({ /** Null: the only tenant there is. */ tenantId: z.string().nullable() }),
  async (service, { tenantId }) => {
    const tenant = await tenantOrOnly(service, tenantId);
    const applications: JsonObject[] = [];
    for (let offset = 0; ; offset += pageSize) {
      const page = await list(service.vault, tenant, everything, { offset, limit: pageSize });
      applications.push(...page.applications.map((application) => applicationAnswer(tenant, application)));
      if (offset + pageSize >= page.total) return { applications };
    }
  },
);
