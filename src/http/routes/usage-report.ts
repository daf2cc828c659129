import { z } from 'zod';
import { tokenTypes } from '../../domain/token/types/token-type.js';
import { usageReport } from '../../queries/tenancy/usage-report.js';
import { documented } from '../openapi/operation.js';
import { wholeNumber } from '../openapi/schemas/formats.js';
import { callerOf } from '../request-state.js';
import type { Routes } from '../routes.js';
import { sendJson } from '../send-json.js';

/** The number of living tokens (docs/contract.md, "Usage report"). */
const report = z
  .object({
    token_report: z.object({
      tokens_total: wholeNumber,
      tokens_by_type: z
        .partialRecord(z.enum(tokenTypes), wholeNumber)
        .meta({ description: 'A type without live tokens is omitted.' }),
    }),
  })
  .meta({ id: 'UsageReport' });

const operation = documented({
  id: 'usageReport',
  tag: 'Tenants',
  summary: 'Report the usage',
  description: 'How many live tokens the tenant has.',
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
  app.get('/tenants/self/reports/usage', { config: { permission: 'report:read', operation } }, async (request, reply) =>
    sendJson(reply, 200, await usageReport(vault, callerOf(request).tenantId)),
  );
};
