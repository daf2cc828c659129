import { counted, grouped } from '../../domain/text.js';
import { formatTimestamp } from '../../domain/time.js';
import { earliestForCodes, earliestNow } from '../../ports/clock.js';
import { ForgedLog } from '../../ports/event-log.js';
import { countedGapMax, type ServiceState } from '../../ports/service-state.js';
import { clockCheck } from '../../ports/store-problem.js';
import type { DueRow } from '../../ports/token-rows.js';
import { orNull } from '../../vault/for-tenants.js';
import type { Vault } from '../../vault/vault.js';
import { type Finding, ok, problem, problemFound } from './finding.js';
import { lastCheckpoint } from './last-checkpoint.js';
import { gapText } from './projection-text.js';
import { webhooks } from './webhooks.js';

type TenantFindingsDeps = Pick<
  Vault,
  'budgets' | 'chain' | 'clock' | 'directory' | 'keys' | 'log' | 'reportDamage' | 'webhookStore'
>;

const overdueMs = 60_000;
const overdueMax = 1_000;
/** A projection this far behind is a problem. In the cluster profile, no larger gap is counted. */
const gapMax = countedGapMax;
/** The shredder runs once a minute. After a failure, it retries sooner. */
const shredderMsMax = 5 * 60_000;
const suspectMs = 24 * 3_600_000;
const suspectsMax = 10;
/** The maximum age of the newest backup. The alert in the Helm chart uses the same age. */
const backupMsMax = 2 * 24 * 3_600_000;

/**
 * Runs the checks that need only a few reads. `strongroom doctor` has more checks, which read the whole log, all keys
 * and all rows. The findings name applications and webhooks of all tenants, so only operators may see them.
 */
export async function serviceFindings(
  vault: TenantFindingsDeps & Pick<Vault, 'rows' | 'storedLog'>,
  state: ServiceState,
): Promise<readonly Finding[]> {
  const [stuck, due, signed, guessing, delivered] = await Promise.all([
    shredder(vault, state),
    deadlines(vault),
    checkpoint(vault),
    suspects(vault, null),
    webhooks(vault, null),
  ]);
  const found = [...storesAndProjections(state), ...stuck];
  return [...found, due, signed, backup(state, vault.clock.now()), guessing, delivered];
}

/**
 * Returns the findings that a tenant may see. Threat: counts, positions or names would tell a tenant something about
 * the activity of other tenants. Findings about the service therefore consist of fixed text. All other findings are
 * only about this tenant.
 */
export async function tenantFindings(
  vault: TenantFindingsDeps,
  state: ServiceState,
  tenantId: string,
): Promise<readonly Finding[]> {
  const askOperator = 'Ask the operator of the service.';
  const [{ state: signed }, guessing, delivered] = await Promise.all([
    checkpoint(vault),
    suspects(vault, tenantId),
    webhooks(vault, tenantId),
  ]);
  return [
    state.reasons.length === 0
      ? ok('readiness', 'the service is ready')
      : problem('readiness', 'the service is not ready, and may reject requests', askOperator),
    state.notices.every(({ check }) => check !== clockCheck)
      ? ok('clock', 'the service trusts its clock')
      : problem(
          'clock',
          'the service does not trust its clock: it hides data that is due, and destroys none',
          askOperator,
        ),
    signed === 'ok'
      ? ok('checkpoint', 'the event log is signed')
      : problem('checkpoint', 'the newest part of the event log is not signed as it should be', askOperator),
    backup(state, vault.clock.now()),
    guessing,
    delivered,
  ];
}

/** Returns the findings about stores, the clock, readiness and projections. */
export function storesAndProjections({ reasons, notices, stores, projections }: ServiceState): readonly Finding[] {
  const isDown = stores.filter(({ state }) => state === 'down');
  const damaged = isDown.flatMap(({ problem: found }) => found ?? []);
  const down = isDown.filter(({ problem: found }) => found === undefined);
  // On a busy service, the shredder always has many events to check. `shredder` reports if it does not check them.
  const behind = projections.filter(({ name, gap }) => gap === null || (gap >= gapMax && name !== 'shredder'));
  // The finding about the damage names the damaged file and the remedy, so a reason that repeats it is left out.
  const otherReasons = reasons.filter((reason) => !damaged.some(({ says }) => reason.includes(says)));
  return [
    ...(isDown.length === 0 ? [ok('stores', `available: ${stores.map(({ name }) => name).join(', ')}`)] : []),
    ...(down.length === 0
      ? []
      : [
          problem(
            'stores',
            `unavailable: ${down.map(({ name }) => name).join(', ')}`,
            'Start the servers, or check the disk.',
          ),
        ]),
    ...damaged.map(problemFound),
    ...notices.map(problemFound),
    ...otherReasons.map((reason) =>
      problem('readiness', reason, 'Requests are rejected until this is fixed; see the log.'),
    ),
    behind.length === 0
      ? ok('projections', gapsText(projections))
      : problem('projections', gapsText(behind), 'Check that the service, or a worker, is running.'),
  ];
}

/**
 * Returns a problem if the shredder does not check the log. The shredder always saves its position once it has checked
 * 1,000 events. If it has not, and the last of them is minutes old, then no pass has succeeded since. Otherwise,
 * returns no finding.
 */
export async function shredder(
  { storedLog, keys, clock }: Pick<Vault, 'clock' | 'keys' | 'storedLog'>,
  { projections }: ServiceState,
): Promise<readonly Finding[]> {
  const gap = projections.find(({ name }) => name === 'shredder')?.gap ?? null;
  if (gap === null || gap < gapMax) return [];
  const last = (await storedLog.readClear(await keys.checkpoint('shredder'), gapMax))[gapMax - 1];
  if (last === undefined || clock.now() - last.time < shredderMsMax) return [];
  const says = `${gapText('shredder', gap)}, and it has not checked any events for several minutes: ended keys may still exist`;
  return [problem('shredder', says, 'Check that the service, or a worker, is running, and see its log.')];
}

function gapsText(projections: ServiceState['projections']): string {
  return projections.map(({ name, gap }) => `${name}: ${gapText(name, gap)}`).join('; ');
}

/** Returns up to 1,000 expiries and cvc purges that have been due for more than one minute. */
export function overdue({ clock, rows }: Pick<Vault, 'clock' | 'rows'>): Promise<readonly DueRow[]> {
  return rows.due(earliestNow(clock) - overdueMs, overdueMax, earliestForCodes(clock) - overdueMs);
}

export async function deadlines(vault: Pick<Vault, 'clock' | 'rows'>): Promise<Finding> {
  const { length } = await overdue(vault);
  if (length === 0) return ok('deadlines', 'nothing is overdue');
  const deadlinesText = counted(length, 'overdue expiry or purge', 'overdue expiries or purges');
  const says = length === overdueMax ? `at least ${deadlinesText}` : deadlinesText;
  return problem('deadlines', says, 'Start the service, or a worker, or run `strongroom doctor --fix`.');
}

/** Runs `lastCheckpoint`. If the log is forged, returns a finding that reports this. */
async function checkpoint(vault: Pick<Vault, 'clock' | 'keys' | 'log'>): Promise<Finding> {
  try {
    return await lastCheckpoint(vault);
  } catch (error) {
    if (!(error instanceof ForgedLog) || error.found === null) throw error;
    return problemFound(error.found);
  }
}

export function backup({ backupMadeAt }: ServiceState, now: number): Finding {
  if (backupMadeAt === null)
    return problem('backup', 'no backup is known', 'Run `strongroom backup` regularly, for example once a day.');
  const says = `the newest backup began at ${formatTimestamp(backupMadeAt)}`;
  return now - backupMadeAt <= backupMsMax
    ? ok('backup', says)
    : problem('backup', says, 'Find out why there is no newer backup, and run `strongroom backup`.');
}

/**
 * Reports the applications that deduplicated many values without a hit in the last day. If `tenantId` is null, covers
 * all tenants.
 */
export async function suspects(
  vault: Pick<Vault, 'budgets' | 'clock' | 'directory' | 'reportDamage'>,
  tenantId: string | null,
): Promise<Finding> {
  const found: string[] = [];
  for (const { applicationId, at } of await vault.budgets.suspects(vault.clock.now() - suspectMs)) {
    // Threat: an attacker changes the row of another tenant's application, so that this check fails.
    const isConcerned =
      tenantId === null ||
      (await orNull(vault, () => vault.directory.get('application', applicationId)))?.tenantId === tenantId;
    if (isConcerned) found.push(`${applicationId} (${new Date(at).toISOString()})`);
  }
  if (found.length === 0)
    return ok('guessing', 'no application deduplicated many values without a hit in the last day');
  const others = found.length > suspectsMax ? ` and ${grouped(found.length - suspectsMax)} more` : '';
  return problem(
    'guessing',
    'applications that used a tenth of an hour’s deduplication misses without a hit and may be guessing values: ' +
      `${found.slice(0, suspectsMax).join(', ')}${others}`,
    'Use `GET /logs` to check what these applications did. If they were guessing, revoke their keys.',
  );
}
