import { recordManagementRead } from '../audit/access-log/record-management-read.js';
import { type ErasureStatement, signErasure } from '../audit/erasure-statement.js';
import { counted, grouped } from '../domain/text.js';
import { formatTimestamp } from '../domain/time.js';
import { checkpointStream } from '../events/audit/checkpoint.js';
import { logIdentity } from '../vault/open-log.js';
import { type CommandResult, done, rejected } from '../vault/result.js';
import type { Vault } from '../vault/vault.js';
import { type ErasureFactsDeps, type ErasureFound, erasureFacts, type Sought } from './erasure-facts.js';
import type { ReadTokenDeps } from './read-token.js';
import type { ReadContext } from './release.js';
import { tokenHistory } from './token-history.js';

const pageSize = 100;

/**
 * The statement of erasure, or the reason why it cannot be made. `incomplete` means that the token was deleted, but has
 * not been completely erased.
 */
export type StatedErasure =
  | { readonly kind: 'erased'; readonly statement: ErasureStatement }
  | { readonly kind: 'living' | 'expired' | 'incomplete'; readonly problem: string };

const firstPage = { offset: 0, limit: 1 };
/**
 * The maximum difference, in ms, between the clock of the process that destroyed a key and the clock of the process
 * that began a rotation.
 */
const clocksApartMs = 2_000;

/**
 * Checks whether a token is erased. If it is, signs and returns a statement of erasure. The caller needs permission to
 * read the token's history. Records in the access log that the history was read.
 */
export async function stateErasure(
  vault: ErasureFactsDeps & ReadTokenDeps & Pick<Vault, 'confirmReads' | 'recorder'>,
  context: ReadContext,
  id: string,
): Promise<CommandResult<StatedErasure>> {
  const { caller } = context;
  const history = await tokenHistory(vault, context, id, firstPage);
  if (!history.ok) return history;
  const found = await erasureFacts(vault, caller.tenantId, id);
  if (found.kind === 'unknown') return rejected('token_not_found');
  const stated = await statementOf(vault, context, id, found);
  await recordManagementRead(vault, context, 'token', id);
  return done(stated);
}

/** Returns the statement about a token with these remains, or the reason why there is none. */
async function statementOf(
  vault: Pick<Vault, 'clock' | 'confirmReads' | 'keys' | 'log'>,
  { caller, beganAt }: ReadContext,
  id: string,
  found: Exclude<ErasureFound, { kind: 'unknown' }>,
): Promise<StatedErasure> {
  if (found.kind === 'living') {
    return { kind: 'living', problem: 'the token still exists, so there is no erasure to state.' };
  }
  if (found.kind === 'expired') {
    const problem = 'the token has expired, but this is not recorded yet. Try again in a minute.';
    return { kind: 'expired', problem };
  }
  if (found.kind === 'incomplete') return { kind: 'incomplete', problem: whatIsLeft(found) };
  const { stream, lives, keys, lastDestroyedAt, row, looked } = found;
  await vault.confirmReads(beganAt);
  const last = lives.at(-1)?.end.position ?? 0;
  const destroyedAt = formatTimestamp(lastDestroyedAt);
  const statement = signErasure(await vault.keys.signingKey(), {
    log_id: (await logIdentity(vault.log))?.logId ?? '',
    tenant_id: caller.tenantId,
    token_id: id,
    stream,
    stated_at: formatTimestamp(vault.clock.now()),
    lives: lives.map(({ createdAt, end }) => ({
      created_at: formatTimestamp(createdAt),
      ended_at: formatTimestamp(end.time),
      ended_by: end.type,
      event_id: end.id,
      position: end.position,
    })),
    keys: { destroyed: keys, last_destroyed_at: destroyedAt },
    derived: { row, looked: looked.map((one) => ({ ...one, found: 0 as const })) },
    checkpoint: await checkpointOver(vault, last),
    copies: await copiesSince(vault, lastDestroyedAt),
  });
  return { kind: 'erased', statement };
}

/**
 * Describes whether the token's keys can still be unwrapped from a copy of the key store that was made before
 * `destroyedAt` (in ms). Threat: an attacker has a copy that was made during a rotation. Such a copy contains the
 * token's keys and also the new tenant keys. For this reason, only a rotation that began after `destroyedAt` makes all
 * copies useless.
 */
async function copiesSince({ keys }: Pick<Vault, 'keys'>, destroyedAt: number): Promise<string> {
  const copies = `Copies of the key store from before ${formatTimestamp(destroyedAt)}`;
  const voidBefore = await keys.rotation.voidBefore();
  if (voidBefore === null || voidBefore <= destroyedAt + clocksApartMs)
    return `${copies} open it until the keys are rotated after that time (\`strongroom keys rotate --all\`).`;
  const when = formatTimestamp(voidBefore);
  return `${copies} are useless without the root key from that time: a rotation that began ${when} replaced all keys.`;
}

const words: Readonly<Record<Sought['kind'], string>> = {
  row: 'rows',
  search_term: 'search terms',
  fingerprint: 'fingerprints',
  deadline: 'deadlines',
  timer: 'timers',
  found_by_id: 'hits by its id',
};

/** Describes the remains of the token in each store, and gives advice to the operator. */
function whatIsLeft({ livingKeys, lostKeys, left }: Extract<ErasureFound, { kind: 'incomplete' }>): string {
  const rows = left.filter(({ kind }) => kind !== 'timer');
  const found = [
    ...(livingKeys === 0 ? [] : [`${counted(livingKeys, 'of its keys is', 'of its keys are')} not destroyed`]),
    ...(lostKeys === 0 ? [] : [`${counted(lostKeys, 'of its keys has', 'of its keys have')} no row in the key store`]),
    ...left.map(({ kind, store, found: count }) => `${words[kind]} in ${store}: ${grouped(count)}`),
  ];
  const advice = [
    ...(livingKeys === 0 ? [] : ['Delete it again.']),
    ...(rows.length === 0 ? [] : ['Rebuild the rows: `strongroom projections rebuild tokens`.']),
    ...(rows.length === left.length ? [] : ['Timers are removed when they are due.']),
  ];
  return [`the token is deleted, but not erased: ${found.join('; ')}.`, ...advice].join(' ');
}

/**
 * Returns the first checkpoint that signs the event at this position. Returns null if no checkpoint signs the event
 * yet.
 */
async function checkpointOver({ log }: Pick<Vault, 'log'>, position: number): Promise<ErasureStatement['checkpoint']> {
  let first: ErasureStatement['checkpoint'] = null;
  for (let before: number | null = null; ; ) {
    const page = await log.readNewest(checkpointStream, before, pageSize);
    for (const { clear, revision } of page) {
      const signed = Number(clear['position']);
      if (signed < position) return first;
      first = { number: revision + 1, position: signed };
    }
    const oldest = page.at(-1);
    if (oldest === undefined || oldest.revision === 0) return first;
    before = oldest.revision;
  }
}
