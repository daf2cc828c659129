import { z } from 'zod';
import { expectContinuity } from '../../audit/continuity.js';
import { recordDue } from '../../commands/tokens/record-due.js';
import type { OperatedService } from '../../compose/vault/open-service.js';
import { lookOverKeys } from '../../jobs/look-over-keys.js';
import { destroyOrphanKeys } from '../../jobs/orphan-keys.js';
import { earliestForCodes, earliestNow } from '../../ports/clock.js';
import { ForgedLog } from '../../ports/event-log.js';
import { type Finding, ok, problem } from '../doctor/finding.js';
import { lastCheckpoint } from '../doctor/last-checkpoint.js';
import { productVersion } from '../product-version.js';
import { operation } from './operation.js';

const overdueMs = 60_000;
const overdueMax = 1_000;
const gapMax = 1_000;
const suspectMs = 24 * 3_600_000;
const suspectsMax = 10;

/** Looks the open stores over, and mends with `fix` what is safe to mend. */
export const diagnose = operation(z.object({ fix: z.boolean() }), async (service, { fix }) => {
  const { vault } = service;
  if (fix) {
    for (const row of await overdue(service)) await recordDue(vault, row);
    await destroyOrphanKeys(vault.log, vault.keys, earliestNow(vault.clock));
  }
  const found: Finding[] = [
    ...(await storesAndProjections(service)),
    await deadlines(service),
    ...(await unlessForged(() => logFound(service.vault))),
    ...(await unlessForged(() => keysFound(service))),
    ...(await unlessForged(async () => [await lastCheckpoint(service.vault)])),
    await copies(service),
    await suspects(service),
  ];
  // A later look may find that an event before the last checkpoint was changed.
  const logIsForged = found.some(({ check, state }) => check === 'log' && state === 'problem');
  const findings = found.filter(({ check, state }) => !(logIsForged && check === 'log' && state === 'ok'));
  const projections = (await service.projections.status()).map(({ name, version }) => ({ name, version }));
  return { findings, running: { version: productVersion(), projections } };
});

async function storesAndProjections(service: OperatedService): Promise<readonly Finding[]> {
  const { reasons, notices, stores, projections } = await service.state();
  const down = stores.filter(({ state }) => state === 'down');
  const behind = projections.filter(({ gap }) => gap === null || gap >= gapMax);
  return [
    down.length === 0
      ? ok('stores', `${stores.map(({ name }) => name).join(', ')} answer`)
      : problem(
          'stores',
          `${down.map(({ name }) => name).join(', ')} do not answer`,
          'Start them, or look at their disks.',
        ),
    ...notices.map((notice) =>
      problem('clock', notice, 'Correct the clock, or, if it is right, run `strongroom clock confirm`.'),
    ),
    ...reasons.map((reason) => problem('readiness', reason, 'Requests are refused until this is mended; see the log.')),
    behind.length === 0
      ? ok('projections', 'all are at the head of the log, or close')
      : problem(
          'projections',
          `${behind.map(({ name }) => name).join(', ')} behind the log`,
          'See that a worker runs.',
        ),
  ];
}

function overdue({ vault }: OperatedService) {
  const { clock } = vault;
  return vault.rows.due(earliestNow(clock) - overdueMs, overdueMax, earliestForCodes(clock) - overdueMs);
}

async function deadlines(service: OperatedService): Promise<Finding> {
  const { length } = await overdue(service);
  if (length === 0) return ok('deadlines', 'nothing is overdue');
  const count = length === overdueMax ? `${overdueMax} or more` : String(length);
  return problem('deadlines', `${count} expiries or purges are overdue`, 'Start the service, or a worker; or --fix.');
}

async function logFound(vault: OperatedService['vault']): Promise<readonly Finding[]> {
  await expectContinuity(vault);
  return [ok('log', 'every event since the last checkpoint is authentic, and none that the keys remember is missing')];
}

/** What `look` finds; a log that something else changed is a finding too. */
async function unlessForged(look: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof ForgedLog) || error.found === null) throw error;
    return [problem(error.found.check, error.found.says, `${error.found.do}.`)];
  }
}

async function keysFound({ vault }: OperatedService): Promise<readonly Finding[]> {
  const { lost, orphans, newer } = await lookOverKeys(vault);
  return [
    lost.length === 0
      ? ok('lost keys', 'every living token has its keys')
      : problem(
          'lost keys',
          `${lost.length} living tokens lack a key`,
          'Restore the keys from a backup; see `restore`.',
        ),
    orphans === 0
      ? ok('orphan keys', 'none')
      : problem(
          'orphan keys',
          `${orphans} old keys are named by no event`,
          'The service ends them in an hour; or --fix.',
        ),
    newer === null
      ? ok('events', 'all are of versions that this program knows')
      : problem(
          'events',
          `the event at position ${newer.position} (${newer.type}, version ${newer.version}) is of a newer version`,
          'Start the version of Strongroom that wrote it.',
        ),
  ];
}

async function suspects({ vault }: OperatedService): Promise<Finding> {
  const found = await vault.budgets.suspects(vault.clock.now() - suspectMs);
  if (found.length === 0)
    return ok('guessing', 'no application deduplicated many values without a hit in the last day');
  const names = found.slice(0, suspectsMax).map(({ applicationId, at }) => `${applicationId} (${isoTime(at)})`);
  const others = found.length > suspectsMax ? ` and ${found.length - suspectsMax} more` : '';
  return problem(
    'guessing',
    `used a tenth of the deduplication misses of an hour without a hit, as one does that tries values: ${names.join(', ')}${others}`,
    'Look at what they did with `GET /logs`; delete their keys if they should not do it.',
  );
}

function isoTime(at: number): string {
  return new Date(at).toISOString();
}

async function copies({ vault }: OperatedService): Promise<Finding> {
  const at = await vault.keys.rotation.voidBefore();
  if (at === null) return ok('copies', 'every copy of the keys opens what was erased since: they were never rotated');
  const when = isoTime(at);
  return ok(
    'copies',
    `copies of the keys from before ${when}, when the last rotation began, are void without the old root key`,
  );
}
