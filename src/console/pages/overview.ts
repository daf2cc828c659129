import { recordManagementRead } from '../../audit/access-log/record-management-read.js';
import { listHourlyCheckpoints } from '../../audit/list-checkpoints.js';
import { grantsAnywhere } from '../../domain/access/decide-access.js';
import { isJsonObject } from '../../domain/json.js';
import { checkpointHash } from '../../events/audit/checkpoint.js';
import { usageReport } from '../../queries/tenancy/usage-report.js';
import { chartOf } from '../charts.js';
import type { ConsolePage, Visit } from '../page.js';

/**
 * Shows the state of the vault: to everyone only whether it is ready, as `/health/ready` does; to a caller with
 * `log:read` the last checkpoint, with `report:read` the number of its tokens; to an operator the reasons, stores and projections, as the admin listener does.
 */
export const overviewPage: ConsolePage = {
  menu: { label: 'Overview', group: 'Vault' },
  routes: [
    {
      method: 'GET',
      path: '/',
      session: 'any',
      async handle(visit) {
        const { reasons, notices, stores, projections, backupMadeAt } = await visit.service.state();
        const forOperators = { reasons, notices, stores, projections, backupMadeAt };
        const model = {
          isReady: reasons.length === 0,
          operator: visit.session.isOperator ? forOperators : null,
          checkpoint: await lastCheckpoint(visit),
          usage: await usage(visit),
        };
        return visit.page('overview', model, { title: 'Overview' });
      },
    },
  ],
};

/** Returns the last hourly checkpoint; `none` if there is none yet, and null if the session may not see it. */
async function lastCheckpoint({ vault, contextAs }: Visit) {
  const context = contextAs('management');
  if (context === null || !grantsAnywhere(context.caller, 'log:read')) return null;
  const { checkpoints } = await listHourlyCheckpoints(vault.log, { offset: 0, limit: 1 });
  await recordManagementRead(vault, context, 'log', null);
  const [newest] = checkpoints;
  if (newest === undefined) return 'none';
  return { time: newest.time, hash: checkpointHash(newest), signedBy: newest.signed_by };
}

/** Returns the number of the tenant's tokens by type; null if the session may not see it. */
async function usage({ vault, contextAs }: Visit) {
  const context = contextAs('management');
  if (context === null || !grantsAnywhere(context.caller, 'report:read')) return null;
  const { token_report: report } = await usageReport(vault, context.caller.tenantId);
  await recordManagementRead(vault, context, 'report', null);
  if (!isJsonObject(report) || !isJsonObject(report['tokens_by_type'])) throw new Error('a usage report has counts');
  const counts = Object.entries(report['tokens_by_type']).map(([type, count]) => [type, Number(count)] as const);
  const data = {
    title: 'Tokens by type',
    labels: counts.map(([type]) => type),
    series: [{ name: 'tokens', values: counts.map(([, count]) => count) }],
  };
  return { total: Number(report['tokens_total']), chart: counts.length === 0 ? null : chartOf('usage', 'bars', data) };
}
