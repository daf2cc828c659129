import { recordManagementRead } from '../../audit/access-log/record-management-read.js';
import { listHourlyCheckpoints } from '../../audit/list-checkpoints.js';
import { grantsAnywhere } from '../../domain/access/decide-access.js';
import { checkpointHash } from '../../events/audit/checkpoint.js';
import type { ServiceState } from '../../ports/service-state.js';
import { dailyAccesses, dailyTokens } from '../../queries/daily-counts.js';
import type { Finding } from '../../queries/findings/finding.js';
import { gapNote, gapText } from '../../queries/findings/projection-text.js';
import { serviceFindings, tenantFindings } from '../../queries/findings/service-findings.js';
import { usageReport } from '../../queries/tenancy/usage-report.js';
import { barChart, lineChart } from '../charts.js';
import type { ConsolePage, Visit } from '../page.js';
import { shownFindings } from '../shown-findings.js';

const daysShown = 30;
/** The maximum number of series in a chart. There are only six colors. */
const seriesMax = 6;

/**
 * Shows the state of the vault. What the page shows depends on the session:
 * - Every session: whether the vault is ready, as in `/health/ready`.
 * - A caller with `log:read`: the last checkpoint, the access counts, and the findings that concern its tenant. A caller
 *   that also has `webhook:read` sees the finding about webhooks.
 * - A caller with `report:read`: how many tokens its tenant has.
 * - An operator: the reasons why the vault is not ready, the stores and the projections, as on the admin listener, and
 *   the findings of the quick checks.
 */
export const overviewPage: ConsolePage = {
  menu: { label: 'Overview', group: 'Vault' },
  routes: [
    {
      method: 'GET',
      path: '/',
      session: 'any',
      async handle(visit) {
        const state = await visit.service.state();
        const { reasons, notices, stores, projections, backupMadeAt } = state;
        const gaps = projections.map(({ name, gap }) => ({
          name,
          isGood: gap === 0 || (name === 'shredder' && gap !== null),
          text: gapText(name, gap),
          note: gapNote(name, gap),
        }));
        const forOperators = { reasons, notices, stores, projections: gaps, backupMadeAt };
        const [checkpoint, used, accessed, found] = await Promise.all([
          lastCheckpoint(visit),
          usage(visit),
          accesses(visit),
          findings(visit, state),
        ]);
        const model = {
          isReady: reasons.length === 0,
          operator: visit.session.isOperator ? forOperators : null,
          checkpoint,
          usage: used,
          accesses: accessed,
          findings: found,
        };
        return visit.page('overview', model, { title: 'Overview' });
      },
    },
  ],
};

/**
 * Returns the last hourly checkpoint. Returns `none` if the log has no hourly checkpoint yet, and null if the session
 * may not see it.
 */
async function lastCheckpoint({ vault, contextAs }: Visit) {
  const context = contextAs('management', 'log:read');
  if (context === null) return null;
  const { checkpoints } = await listHourlyCheckpoints(vault.log, { offset: 0, limit: 1 });
  await recordManagementRead(vault, context, 'log', null);
  const [newest] = checkpoints;
  if (newest === undefined) return 'none';
  return { time: newest.time, hash: checkpointHash(newest), signedBy: newest.signed_by };
}

/** Returns how many tokens of each type the tenant has, or null if the session may not see these numbers. */
async function usage({ vault, contextAs }: Visit) {
  const context = contextAs('management', 'report:read');
  if (context === null) return null;
  const { total, byType } = await usageReport(vault, context.caller.tenantId);
  await recordManagementRead(vault, context, 'report', null);
  const days = await dailyTokens(vault, context.caller.tenantId, lastDays(vault.clock.now()));
  if (byType.size === 0) return { total, chart: null };
  const bySize: readonly string[] = [...byType].toSorted(([, one], [, other]) => other - one).map(([type]) => type);
  const shown = bySize.length > seriesMax ? bySize.slice(0, seriesMax - 1) : bySize;
  const aliveOf = (isShown: (type: string) => boolean) =>
    days.map(({ alive }) =>
      Object.entries(alive).reduce((sum, [type, count]) => (isShown(type) ? sum + count : sum), 0),
    );
  const series = shown.map((type) => ({ name: type, values: aliveOf((one) => one === type) }));
  if (shown.length < bySize.length) series.push({ name: 'others', values: aliveOf((one) => !shown.includes(one)) });
  const labels = days.map(({ day }) => day.slice(5));
  const data = { title: `Tokens by type in the last ${daysShown} days`, labels, series };
  return { total, chart: barChart('usage', data) };
}

/** Returns how often the tenant's tokens were accessed, or null if the session may not see these numbers. */
async function accesses({ vault, contextAs }: Visit) {
  const context = contextAs('management', 'log:read');
  if (context === null) return null;
  const days = await dailyAccesses(vault, context.caller.tenantId, lastDays(vault.clock.now()));
  const of = (operation: string) => days.map(({ operations }) => operations[operation] ?? 0);
  const series = [
    { name: 'read', values: of('read') },
    { name: 'reveal', values: of('reveal') },
    { name: 'denied or failed', values: days.map(({ denied, failed }) => denied + failed) },
  ];
  const title = `Token accesses in the last ${daysShown} days`;
  const total = series.reduce((sum, { values }) => sum + values.reduce((all, one) => all + one, 0), 0);
  const labels = days.map(({ day }) => day.slice(5));
  return { chart: total === 0 ? null : lineChart('accesses', { title, labels, series }) };
}

/** Returns the problems found by the quick checks, or null if the session may not see them. */
async function findings(visit: Visit, state: ServiceState) {
  const { vault, session, contextAs } = visit;
  const context = contextAs('management', 'log:read');
  const found = session.isOperator
    ? await serviceFindings(vault, state)
    : context === null
      ? null
      : seenBy(context, await tenantFindings(vault, state, context.caller.tenantId));
  if (found === null) return null;
  const problems = found.filter((one) => one.state === 'problem');
  return {
    checks: found.length,
    problems: await shownFindings(
      visit,
      problems.map(({ check, says, do: advice = null }) => ({ check, says, advice })),
    ),
  };
}

/**
 * Leaves out the finding about webhooks if the caller does not have `webhook:read`. The finding names webhooks, and counts
 * their failed deliveries.
 */
function seenBy({ caller }: Pick<Visit, 'caller'>, findings: readonly Finding[]): readonly Finding[] {
  return findings.filter(({ check }) => check !== 'webhooks' || grantsAnywhere(caller, 'webhook:read'));
}

function lastDays(now: number) {
  return { from: now - (daysShown - 1) * 86_400_000, to: now };
}
