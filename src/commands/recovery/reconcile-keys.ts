import { setImmediate as nextTurn } from 'node:timers/promises';
import { checkpointType, checkpointVersion } from '../../events/audit/checkpoint.js';
import type { ClearEvent } from '../../events/event.js';
import { namedKeys } from '../../events/event-keys.js';
import { directoryEventTypes, directoryEventVersion } from '../../events/tenancy/catalogue.js';
import { tokenEventTypes, tokenEventVersion } from '../../events/tokens/catalogue.js';
import type { KeyUse } from '../../keys/key-ring.js';
import { isBehindLog, loadToken } from '../../vault/load-token.js';
import type { Vault } from '../../vault/vault.js';
import { findUnreadableTokens, type UnreadableToken } from './record-erased.js';

const pageSize = 1_000;
/**
 * No orphan key should be older than this. The orphan-key job runs every hour and destroys orphan keys that are more
 * than one hour old.
 */
const orphanAgeMs = 3 * 3_600_000;

/** A live token whose key was destroyed, or is missing. A damaged key, which does not open, counts as missing. */
export type Lost = UnreadableToken & { readonly key: 'destroyed' | 'missing' };

/**
 * `unnamed` contains the ids of the damaged keys that no event names, so no token is known to lose data with them.
 * `orphans` is the number of other old keys that no event names. `newer` is the first event whose type or version is
 * unknown to this program.
 */
type ReconciledKeys = {
  readonly lost: readonly Lost[];
  readonly unnamed: readonly string[];
  readonly orphans: number;
  readonly newer: ClearEvent | null;
};

/**
 * Opens all living keys, and compares them with the log. Reads the log once, page by page, and lets requests run after
 * each page. Checks each suspected token a second time, because the token may have changed during the comparison. Leaves
 * out the tokens of the tenants in `except`, whose own keys are damaged: none of their tokens can be checked.
 */
export async function reconcileKeys(
  vault: Pick<Vault, 'clock' | 'keys' | 'log'>,
  except: ReadonlySet<string> = new Set<string>(),
): Promise<ReconciledKeys> {
  const { living, old, damaged } = await livingKeys(vault);
  let newer: ClearEvent | null = null;
  const suspected = await findUnreadableTokens(
    vault.log,
    (keyId) => !living.has(keyId),
    (page) => {
      for (const keyId of page.flatMap(namedKeys)) {
        old.delete(keyId);
        damaged.delete(keyId);
      }
      newer ??= page.find((event) => !isOfKnownVersion(event)) ?? null;
    },
  );
  const lost: Lost[] = [];
  for (const token of suspected) {
    if (except.has(token.tenantId)) continue;
    const key = await keyOf(vault, token);
    if (key !== 'open') lost.push({ ...token, key });
    await nextTurn();
  }
  return { lost, unnamed: [...damaged], orphans: old.size, newer };
}

/**
 * Returns the ids of all living keys. `living` leaves out the keys that do not open, and the keys that a lookup by id
 * does not find, because the index of the key store is damaged. `damaged` contains the keys that do not open. `old`
 * contains the other keys that are older than `orphanAgeMs`.
 */
async function livingKeys({
  keys,
  clock,
}: Pick<Vault, 'clock' | 'keys'>): Promise<Record<'living' | 'old' | 'damaged', Set<string>>> {
  const living = new Set<string>();
  const old = new Set<string>();
  const damaged = new Set<string>();
  const oldBefore = clock.now() - orphanAgeMs;
  for (let page = await keys.made(0, Number.MAX_SAFE_INTEGER, pageSize); page.length > 0; ) {
    for (const { keyId, madeAt } of page) if (madeAt < oldBefore) old.add(keyId);
    for (const { keyId } of await keys.keyStatuses(page.map(({ keyId: id }) => id))) living.add(keyId);
    await nextTurn();
    page = await keys.made(page.at(-1)?.sequence ?? 0, Number.MAX_SAFE_INTEGER, pageSize);
  }
  for (let page = await keys.check.dataKeys(0); page !== null; page = await keys.check.dataKeys(page.last)) {
    for (const keyId of [...page.damaged, ...page.unwrappable]) living.delete(keyId);
    for (const keyId of page.damaged) {
      old.delete(keyId);
      damaged.add(keyId);
    }
  }
  return { living, old, damaged };
}

async function keyOf(vault: Pick<Vault, 'keys' | 'log'>, token: UnreadableToken): Promise<KeyUse<unknown>['state']> {
  const { tenantId, stream, what } = token;
  const view = await loadToken(vault, tenantId, stream);
  const { life } = view.state;
  const keyId = what === 'data' ? life?.key : life?.cvc?.key;
  if (keyId === undefined) return 'open';
  const state = await vault.keys.check.stateOf(tenantId, keyId);
  // The token may have been changed or deleted between the read of its events and the read of its key.
  if (state === 'destroyed' && (await isBehindLog(vault, view))) return keyOf(vault, token);
  // A key whose id is damaged in its row still opens, because the lookup uses the intact index. But a backup copies the
  // rows, so the key would be lost.
  return state === 'open' && (await vault.keys.hasDamagedId(keyId)) ? 'missing' : state;
}

/** The newest schema version of each event type known to this program. */
const newestVersions: ReadonlyMap<string, number> = new Map([
  ...tokenEventTypes.map((type): [string, number] => [type, tokenEventVersion]),
  ...directoryEventTypes.map((type): [string, number] => [type, directoryEventVersion]),
  [checkpointType, checkpointVersion],
  ['log.opened', 1],
]);

/**
 * Returns true if this program can read the event: it knows the event's type, and the event's version is not newer than
 * the newest version that it knows.
 */
function isOfKnownVersion({ type, version }: Pick<ClearEvent, 'type' | 'version'>): boolean {
  return version <= (newestVersions.get(type) ?? 0);
}
