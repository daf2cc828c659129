import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { lostEntries } from '../../audit/access-log/lost-entries.js';
import { checkDirectory } from '../../audit/check-rows.js';
import { expectContinuity } from '../../audit/continuity.js';
import { wholePages } from '../../audit/proven-chain.js';
import { type Lost, reconcileKeys } from '../../commands/recovery/reconcile-keys.js';
import { recordDue } from '../../commands/tokens/record-due.js';
import type { OperatedService } from '../../compose/vault/open-service.js';
import { counted, firstOf } from '../../domain/text.js';
import { loggedError } from '../../http/logging/logged-error.js';
import { destroyOrphanKeys } from '../../jobs/orphan-keys.js';
import type { DamagedKey } from '../../keys/key-ring.js';
import { earliestNow } from '../../ports/clock.js';
import { StoreProblem } from '../../ports/store-problem.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import type { DueRow } from '../../ports/token-rows.js';
import { type Finding, note, ok, problem, problemFound } from '../../queries/findings/finding.js';
import { lastCheckpoint } from '../../queries/findings/last-checkpoint.js';
import {
  deadlines,
  overdue,
  shredder,
  storesAndProjections,
  suspects,
} from '../../queries/findings/service-findings.js';
import { webhooks } from '../../queries/findings/webhooks.js';
import { livingTenants } from '../../vault/for-tenants.js';
import { ForgedRow } from '../../vault/forged-row.js';
import type { Vault } from '../../vault/vault.js';
import { forgedRowsAdvice, forgedText } from '../forged-row-text.js';
import { operation } from '../operations/operation.js';
import { productVersion } from '../product-version.js';

const restoreKeys = 'Restore the newest backup whose keys all open: `strongroom backup` says if a key does not open.';
const unusedGenerationKey =
  'Find out what changed or damaged the key store. Searches do not use this key, and the end of the next rebuild of ' +
  '`tokens` destroys it.';
/** The key of a deleted token, a key made in advance, or the key of a token that another finding names. */
const unnamedKey =
  'Find out what changed or damaged the key store. If no finding names a token, no token is known to need this key.';

/** Checks the open stores. If `fix` is true, also fixes the problems that are safe to fix. */
export const diagnose = operation(z.object({ fix: z.boolean() }), async (service, { fix }) => {
  let projections: readonly { readonly name: string; readonly version: number | null }[] = [];
  const found: Finding[] = [
    // This check comes first, because the other checks read the directory, and each read repairs older rows.
    ...(await unlessBroken(() => directoryRows(service.vault))),
    ...(fix ? await fixed(service) : []),
    ...storesAndProjections(await service.state()),
    ...(await unlessBroken(async () => shredder(service.vault, await service.state()))),
    ...(await unlessBroken(async () => [await deadlines(service.vault)])),
    ...(await unlessBroken(() => logFound(service.vault))),
    ...(await unlessBroken(() => keysFound(service))),
    ...(await unlessBroken(async () => [await lastCheckpoint(service.vault)])),
    ...(await unlessBroken(() => accessLog(service.vault))),
    ...(await unlessBroken(async () => [await copies(service)])),
    ...(await unlessBroken(() => searchIndex(service.vault))),
    ...(await unlessBroken(async () => [await suspects(service.vault, null)])),
    ...(await unlessBroken(async () => [await webhooks(service.vault, null)])),
    ...(await unlessBroken(async () => {
      projections = (await service.projections.status()).map(({ name, version }) => ({ name, version }));
      return [];
    })),
  ];
  // The check of the log covers only the events since the last checkpoint. A later check may find that an older event
  // was changed. In that case, we drop the finding that the log is intact.
  const logIsForged = found.some(({ check, state }) => check === 'log' && state === 'problem');
  const findings = found
    .filter(({ check, state }) => !(logIsForged && check === 'log' && state === 'ok'))
    .filter((finding, index, all) => all.findIndex((other) => isDeepStrictEqual(other, finding)) === index);
  return { findings, running: { version: productVersion(), projections } };
});

/**
 * Fixes the problems that are safe to fix, and returns the problems that could not be fixed. Threat: an attacker plants
 * a row or changes an event to cause an error that aborts the fix and all other checks. Such an error therefore becomes
 * a finding.
 */
async function fixed(service: OperatedService): Promise<readonly Finding[]> {
  const { vault } = service;
  const found: Finding[] = [];
  for (const row of await overdue(vault)) {
    try {
      await recordDue(vault, row);
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      found.push(findingOf(error) ?? unfixedDeadline(row, error));
    }
  }
  const orphans = await unlessBroken(async () => {
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

/** Returns a finding if rows of the directory are not authentic, or do not match the key store's record of them. */
async function directoryRows(vault: Pick<Vault, 'directory' | 'generations' | 'keys'>): Promise<readonly Finding[]> {
  const { problems } = await checkDirectory(vault);
  return problems.length === 0 ? [] : [problem('rows', forgedText(problems), forgedRowsAdvice)];
}

async function logFound(vault: Pick<Vault, 'chain' | 'keys' | 'log'>): Promise<readonly Finding[]> {
  await expectContinuity(vault, wholePages(vault.log));
  return [
    ok('log', 'every event since the last checkpoint is authentic, and none that the key store recorded is missing'),
  ];
}

/**
 * Returns the findings from `look`. If `look` detects that the log or a row is forged, or that a store is damaged,
 * returns a finding that reports this instead, so that the other checks still run. Threat: an attacker changes a field
 * to another type, which causes an error that no check expects.
 */
async function unlessBroken(look: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof StoreUnavailable && error.found === null) throw error;
    return [findingOf(error) ?? unexpected(error)];
  }
}

function unexpected(error: unknown): Finding {
  const { name, stack = '' } = loggedError(error);
  return problem(
    'unexpected',
    `a check failed with an unexpected error: ${name} ${stack.split('\n')[0]}`,
    'A value in a store may have the wrong type. Find out who can write to the stores. If nobody changed them, report ' +
      'this error.',
  );
}

/** Returns the finding for a forged row, or for an error that names a problem with a store. Otherwise returns null. */
function findingOf(error: unknown): Finding | null {
  if (error instanceof ForgedRow) return problem('rows', error.message, forgedRowsAdvice);
  if (!(error instanceof StoreProblem || error instanceof StoreUnavailable) || error.found === null) return null;
  return problemFound(error.found);
}

async function keysFound({ vault }: OperatedService): Promise<readonly Finding[]> {
  const damaged = await vault.keys.check.underRoot(await livingTenants(vault));
  const { read } = await vault.generations.inUse();
  const unused = damaged.filter((key) => key.kind === 'search' && key.generation !== read);
  // The data keys of these tenants do not open. Naming all their tokens would add nothing.
  const tenants = new Set(damaged.flatMap((key) => (key.kind === 'tenant' ? [key.tenantId] : [])));
  const { lost, unnamed, orphans, newer } = await reconcileKeys(vault, tenants);
  return [
    ...damagedFound(
      damaged.filter((key) => !unused.includes(key)),
      restoreKeys,
    ),
    ...damagedFound(unused, unusedGenerationKey),
    ...damagedFound(
      unnamed.map((keyId) => ({ name: `the data key ${keyId}, which no event names` })),
      unnamedKey,
    ),
    ...(lost.length === 0
      ? []
      : [
          problem(
            'lost keys',
            `a key of ${counted(lost.length, 'token')} is missing or damaged: ${lostText(lost)}`,
            restoreKeys,
          ),
        ]),
    ...(damaged.length + lost.length + unnamed.length === 0
      ? [ok('lost keys', 'every token has its keys, and they open')]
      : []),
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
          `the event at position ${newer.position} (${newer.type}, version ${newer.version}) was written by a ` +
            'newer version',
          'Start the version of Strongroom that wrote it.',
        ),
  ];
}

function damagedFound(damaged: readonly Pick<DamagedKey, 'name'>[], advice: string): readonly Finding[] {
  if (damaged.length === 0) return [];
  return [problem('lost keys', `damaged: ${firstOf(damaged.map(({ name }) => name))}`, advice)];
}

function lostText(lost: readonly Lost[]): string {
  return firstOf(
    lost.map(({ tenantId, stream, what }) => {
      const whose = `token ${stream} of tenant ${tenantId}`;
      return what === 'cvc' ? `${whose} (only its verification code)` : whose;
    }),
  );
}

async function accessLog(vault: Pick<Vault, 'accessLog' | 'clock' | 'storedLog'>): Promise<readonly Finding[]> {
  if (vault.accessLog.missing === null) return [];
  const found = await lostEntries(vault);
  return [found === null ? ok('access log', 'no batch is known to be missing') : problemFound(found)];
}

async function searchIndex(vault: Pick<Vault, 'searchIndex'>): Promise<readonly Finding[]> {
  const found = await vault.searchIndex.run();
  if (found.length > 0) return found.map(problemFound);
  return [ok('search index', 'matches the token rows and is not damaged; the token counts match')];
}

async function copies({ vault }: OperatedService): Promise<Finding> {
  const at = await vault.keys.rotation.voidBefore();
  if (at === null)
    return note(
      'copies',
      'the keys were never rotated: an older copy of the keys still opens data that was erased after the copy was made',
      'Rotate the keys with `strongroom keys rotate --all` if anyone else may have such a copy.',
    );
  const when = new Date(at).toISOString();
  return ok(
    'copies',
    `copies of the keys from before ${when}, when the last rotation began, are useless without the old root key`,
  );
}
