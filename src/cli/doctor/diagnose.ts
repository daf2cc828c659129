import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { expectContinuity } from '../../audit/continuity.js';
import { recordDue } from '../../commands/tokens/record-due.js';
import type { OperatedService } from '../../compose/vault/open-service.js';
import { counted, grouped } from '../../domain/text.js';
import { destroyOrphanKeys } from '../../jobs/orphan-keys.js';
import { reconcileKeys } from '../../jobs/reconcile-keys.js';
import { earliestForCodes, earliestNow } from '../../ports/clock.js';
import { ForgedLog } from '../../ports/event-log.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import type { DueRow } from '../../ports/token-rows.js';
import { operation } from '../operations/operation.js';
import { productVersion } from '../product-version.js';
import { gapText } from '../projections/gap-text.js';
import { type Finding, ok, problem } from './finding.js';
import { lastCheckpoint } from './last-checkpoint.js';
import { webhooks } from './webhooks.js';

const overdueMs = 60_000;
const overdueMax = 1_000;
const gapMax = 1_000;
const suspectMs = 24 * 3_600_000;
const suspectsMax = 10;

/** Checks the open stores. With `fix`, also fixes the problems that are safe to fix. */
export const diagnose = operation(z.object({ fix: z.boolean() }), async (service, { fix }) => {
  const found: Finding[] = [
    ...(fix ? await fixed(service) : []),
    ...(await storesAndProjections(service)),
    await deadlines(service),
    ...(await unlessForged(() => logFound(service.vault))),
    ...(await unlessForged(() => keysFound(service))),
    ...(await unlessForged(async () => [await lastCheckpoint(service.vault)])),
    await copies(service),
    await suspects(service),
    await webhooks(service.vault),
  ];
  // A later check may find a changed event before the last checkpoint. In that case, drop the finding that the log is
  // fine.
  const logIsForged = found.some(({ check, state }) => check === 'log' && state === 'problem');
  const findings = found
    .filter(({ check, state }) => !(logIsForged && check === 'log' && state === 'ok'))
    .filter((finding, index, all) => all.findIndex((other) => isDeepStrictEqual(other, finding)) === index);
  const projections = (await service.projections.status()).map(({ name, version }) => ({ name, version }));
  return { findings, running: { version: productVersion(), projections } };
});

/**
 * Fixes the problems that are safe to fix, and returns those that it could not fix. Threat: a planted row or a changed
 * event would otherwise end the fix, and with it all checks.
 */
async function fixed(service: OperatedService): Promise<readonly Finding[]> {
  const { vault } = service;
  const found: Finding[] = [];
  for (const row of await overdue(service)) {
    try {
      await recordDue(vault, row);
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      found.push(findingOf(error) ?? unfixedDeadline(row, error));
    }
  }
  const orphans = await unlessForged(async () => {
    await destroyOrphanKeys(vault, earliestNow(vault.clock));
    return [];
  });
  return [...found, ...orphans];
}

function unfixedDeadline({ stream }: DueRow, error: unknown): Finding {
  const what = error instanceof Error ? error.message : 'unexpected error';
  return problem(
    'deadlines',
    `${stream}: ${what}`,
    'Run `strongroom audit verify`, which names rows that are not authentic.',
  );
}

async function storesAndProjections(service: OperatedService): Promise<readonly Finding[]> {
  const { reasons, notices, stores, projections } = await service.state();
  const down = stores.filter(({ state }) => state === 'down');
  const behind = projections.filter(({ gap }) => gap === null || gap >= gapMax);
  return [
    down.length === 0
      ? ok('stores', `available: ${stores.map(({ name }) => name).join(', ')}`)
      : problem(
          'stores',
          `unavailable: ${down.map(({ name }) => name).join(', ')}`,
          'Start the servers, or check the disk.',
        ),
    ...notices.map((notice) =>
      problem('clock', notice, 'Correct the clock. If it is right, run `strongroom clock confirm`.'),
    ),
    ...reasons.map((reason) => problem('readiness', reason, 'Requests are rejected until this is fixed; see the log.')),
    behind.length === 0
      ? ok('projections', gapsText(projections))
      : problem('projections', gapsText(behind), 'Check that the service, or a worker, is running.'),
  ];
}

function overdue({ vault }: OperatedService) {
  const { clock } = vault;
  return vault.rows.due(earliestNow(clock) - overdueMs, overdueMax, earliestForCodes(clock) - overdueMs);
}

async function deadlines(service: OperatedService): Promise<Finding> {
  const { length } = await overdue(service);
  if (length === 0) return ok('deadlines', 'nothing is overdue');
  const deadlinesText = counted(length, 'overdue expiry or purge', 'overdue expiries or purges');
  const says = length === overdueMax ? `at least ${deadlinesText}` : deadlinesText;
  return problem('deadlines', says, 'Start the service, or a worker, or run this command with --fix.');
}

function gapsText(projections: readonly { readonly name: string; readonly gap: number | null }[]): string {
  return projections.map(({ name, gap }) => `${name}: ${gapText(name, gap)}`).join('; ');
}

async function logFound(vault: OperatedService['vault']): Promise<readonly Finding[]> {
  await expectContinuity(vault);
  return [
    ok('log', 'every event since the last checkpoint is authentic, and none that the key store recorded is missing'),
  ];
}

/** Returns the findings of `look`. Reports a forged log as a finding. */
async function unlessForged(look: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  try {
    return await look();
  } catch (error) {
    const finding = findingOf(error);
    if (finding === null) throw error;
    return [finding];
  }
}

/** Returns the finding for a ForgedLog error, or null for any other error. */
function findingOf(error: unknown): Finding | null {
  if (!(error instanceof ForgedLog) || error.found === null) return null;
  return problem(error.found.check, error.found.says, `${error.found.do}.`);
}

async function keysFound({ vault }: OperatedService): Promise<readonly Finding[]> {
  const { lost, orphans, newer } = await reconcileKeys(vault);
  return [
    lost.length === 0
      ? ok('lost keys', 'every token has its keys')
      : problem(
          'lost keys',
          `${counted(lost.length, 'token lacks', 'tokens lack')} a key`,
          'Restore the keys from a backup with `strongroom restore`.',
        ),
    orphans === 0
      ? ok('orphan keys', 'none')
      : problem(
          'orphan keys',
          `no event names ${counted(orphans, 'old key')}`,
          'The service destroys these keys within an hour. Run this command with --fix to destroy them now.',
        ),
    newer === null
      ? ok('events', 'this program knows the versions of all events')
      : problem(
          'events',
          `the event at position ${newer.position} (${newer.type}, version ${newer.version}) was written by a newer version`,
          'Start the version of Strongroom that wrote it.',
        ),
  ];
}

async function suspects({ vault }: OperatedService): Promise<Finding> {
  const found = await vault.budgets.suspects(vault.clock.now() - suspectMs);
  if (found.length === 0)
    return ok('guessing', 'no application deduplicated many values without a hit in the last day');
  const names = found.slice(0, suspectsMax).map(({ applicationId, at }) => `${applicationId} (${isoTime(at)})`);
  const others = found.length > suspectsMax ? ` and ${grouped(found.length - suspectsMax)} more` : '';
  return problem(
    'guessing',
    `used a tenth of the deduplication misses of an hour without a hit, as an application that guesses values does: ${names.join(', ')}${others}`,
    'Check what these applications did with `GET /logs`, and delete their keys if they were guessing.',
  );
}

function isoTime(at: number): string {
  return new Date(at).toISOString();
}

async function copies({ vault }: OperatedService): Promise<Finding> {
  const at = await vault.keys.rotation.voidBefore();
  if (at === null)
    return ok(
      'copies',
      'the keys were never rotated: every older copy of the keys still opens data that was erased since',
    );
  const when = isoTime(at);
  return ok(
    'copies',
    `copies of the keys from before ${when}, when the last rotation began, are void without the old root key`,
  );
}
