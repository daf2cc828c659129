import { usageReport } from '../../../commands/directory/usage-report.js';
import { callerOf } from '../../request-state.js';
import type { Routes } from '../../routes.js';
import { sendJson } from '../../send-json.js';
import { usageReportOperation as operation } from './operation.js';

/** `GET /tenants/self/reports/usage` (contract, section 10). */
export const usageReportRoute: Routes = (app, { vault }) => {
  app.get('/tenants/self/reports/usage', { config: { permission: 'report:read', operation } }, async (request, reply) =>
    sendJson(reply, 200, await usageReport(vault, callerOf(request).tenantId)),
  );
};
