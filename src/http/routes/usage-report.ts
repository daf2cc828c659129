import { z } from 'zod';
import { tokenTypes } from '../../domain/token/types/token-type.js';
import { usageReport } from '../../queries/tenancy/usage-report.js';
import { documented } from '../openapi/operation.js';
import { wholeNumber } from '../openapi/schemas/formats.js';
import { callerOf } from '../request-state.js';
import type { Routes } from '../routes.js';
import { sendJson } from '../send-json.js';

/** The number of live tokens (docs/contract.md, "Usage report"). */
const report = z
  .object({
    token_report: z
      .object({
        tokens_total: wholeNumber('The number of live tokens.'),
        tokens_by_type: z
          .partialRecord(z.enum(tokenTypes), wholeNumber('The number of live tokens of this type.'))
          .meta({ description: 'The number of live tokens of each type. Types without tokens are absent.' }),
      })
      .meta({ description: 'The tenant’s tokens.' }),
  })
  .meta({ id: 'UsageReport', description: 'How much the tenant stores.' });

const operation = documented({
  id: 'usageReport',
  tag: 'Tenants',
  summary: 'Get the usage report',
  description: 'Returns the number of live tokens that the tenant has.',
  answers: {
    200: {
      description: 'The report.',
      schema: report,
      example: { token_report: { tokens_total: 3, tokens_by_type: { card: 2, token: 1 } } },
    },
  },
});

/** `GET /tenants/self/reports/usage` (docs/contract.md, "Usage report"). */
export const usageReportRoute: Routes = (app, { vault }) => {
  app.get(
    '/tenants/self/reports/usage',
    { config: { permission: 'report:read', operation } },
    async (request, reply) => {
      const { total, byType } = await usageReport(vault, callerOf(request).tenantId);
      const counts = { tokens_total: total, tokens_by_type: Object.fromEntries(byType) };
      return sendJson(reply, 200, { token_report: counts });
    },
  );
};
