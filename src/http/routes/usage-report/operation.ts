import { documented } from '../../openapi/operation.js';
import { usageReport } from '../../openapi/schemas/usage-report.js';

export const usageReportOperation = documented({
  id: 'usageReport',
  tag: 'Tenants',
  summary: 'Report the usage',
  description: 'How many living tokens the tenant has.',
  answers: {
    200: {
      description: 'The report.',
      schema: usageReport,
      example: { token_report: { tokens_total: 3, tokens_by_type: { card: 2, token: 1 } } },
    },
  },
});
