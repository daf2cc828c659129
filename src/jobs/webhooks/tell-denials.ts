import { hash } from 'node:crypto';
import { attemptDelivery, isAttemptDue } from '../../commands/webhooks/post-to-webhook.js';
import { formatTimestamp } from '../../domain/time.js';
import type { AccessBatch, AccessEntry } from '../../events/access-log/access-entry.js';
import { type DenialState, type WebhookState, withAttempts } from '../../ports/webhook-store.js';
import type { VersionedState } from '../../vault/authentic-webhook-store.js';
import type { Vault } from '../../vault/vault.js';
import type { BatchResult } from './deliver-batch.js';
import type { Subscription } from './subscriptions.js';

const pageSize = 100;
/**
 * Chains that have received no batch in the month of this age or later are not read. A failing delivery is retried for
 * a little more than three days, and the chain of its denial may have received no batch since.
 */
const chainAgeMs = 4 * 24 * 3_600_000;
const minuteMs = 60_000;
/**
 * For a new webhook, only this many of each chain's newest batches are searched for denials since the webhook's
 * creation.
 */
const batchesBack = 1_000;

/**
 * Notifies a webhook of the denied accesses that come after the webhook's checkpoint in the access log. Sends at most
 * one notification per application per minute. The notifications are sent in order, so a failed delivery is retried
 * before the next notification is sent. `isCurrent` returns false if the webhook has changed, which ends the work.
 * `store` stores a result, and returns false if another process changed the state.
 */
export async function tellDenials(
  vault: Pick<Vault, 'accessLog' | 'clock' | 'webhookSender'>,
  subscription: Subscription,
  before: VersionedState<WebhookState>,
  isCurrent: () => Promise<boolean>,
  store: (result: BatchResult) => Promise<boolean>,
): Promise<void> {
  const { webhook } = subscription;
  if (!webhook.event_types.includes('access.denied')) return;
  let { version, state } = before;
  let denials = state.denials ?? (await begin(vault));
  if (!isAttemptDue(denials.nextAt, vault.clock.now())) return;
  const heads = await vault.accessLog.heads(vault.clock.now() - chainAgeMs);
  const read = new Set(denials.chains.map(([chain]) => chain));
  // Each process begins a chain, so the state would otherwise grow with every start of a process.
  if (heads.some(({ chain }) => !read.has(chain))) denials = await withoutDropped(vault, denials);
  for (const { chain, sequence } of heads) {
    for (let after = sequenceOf(denials, chain); after < sequence; ) {
      const batches = await vault.accessLog.batches(chain, after, pageSize);
      const last = batches.at(-1);
      if (last === undefined) break;
      after = last.sequence;
      const told = await tellBatches(vault, subscription, denials, chain, batches, isCurrent);
      denials = told.denials;
      const isUnchanged = told.made.length === 0 && after < sequence && !told.isStopped;
      if (isUnchanged) continue;
      state = { ...withAttempts(state, told.made), denials };
      if (!(await store({ version, state, delivered: [], attempts: told.made }))) return;
      version += 1;
      if (told.isStopped || !isAttemptDue(denials.nextAt, vault.clock.now())) return;
    }
  }
}

async function begin({ accessLog }: Pick<Vault, 'accessLog'>): Promise<DenialState> {
  const heads = await accessLog.heads(0);
  const chains = heads.map(({ chain, sequence }) => [chain, Math.max(0, sequence - batchesBack), sequence] as const);
  return { chains, told: [], failed: 0, nextAt: 0 };
}

/** Forgets the chains that have no batch left. If such a chain grows again, it contains only newer batches. */
async function withoutDropped({ accessLog }: Pick<Vault, 'accessLog'>, denials: DenialState): Promise<DenialState> {
  const left = new Set(await accessLog.chains());
  return { ...denials, chains: denials.chains.filter(([chain]) => left.has(chain)) };
}

function sequenceOf({ chains }: DenialState, chain: string): number {
  return chains.find(([name]) => name === chain)?.[1] ?? 0;
}

/** Returns the last batch of the chain that may contain denials from before the webhook's creation. */
function existingOf({ chains }: DenialState, chain: string): number {
  return chains.find(([name]) => name === chain)?.[2] ?? 0;
}

/**
 * Delivers the denials in these batches. If a delivery fails and will be retried, stops at this delivery. If a delivery
 * has failed for the last time, continues with the next denial.
 */
async function tellBatches(
  vault: Pick<Vault, 'clock' | 'webhookSender'>,
  { tenantId, webhook }: Subscription,
  before: DenialState,
  chain: string,
  batches: readonly AccessBatch[],
  isCurrent: () => Promise<boolean>,
) {
  const made: Awaited<ReturnType<typeof attemptDelivery>>[] = [];
  const told = new Map(before.told);
  let { failed } = before;
  const existing = existingOf(before, chain);
  for (const { sequence, entries } of batches) {
    for (const [index, entry] of entries.entries()) {
      if (!isDenialOf(entry, tenantId)) continue;
      // The times of later batches are not compared, because the clock may have been ahead at the webhook's creation.
      if (sequence <= existing && entry.time < webhook.created_at) continue;
      const last = told.get(entry.actorId);
      if (last !== undefined && areWithin(minuteMs, entry.time, last)) continue;
      const reached = upTo(before, told, chain, sequence - 1, entry.time);
      if (!(await isCurrent())) return { made, isStopped: true, denials: { ...reached, failed, nextAt: 0 } };
      const event = { id: idOf(chain, sequence, index), type: 'access.denied' };
      const attempt = await attemptDelivery(vault, webhook, event, payloadOf(entry), failed);
      made.push(attempt);
      if (attempt.nextAt !== null) {
        const again = { failed: failed + 1, nextAt: attempt.nextAt };
        return { made, isStopped: true, denials: { ...reached, ...again } };
      }
      failed = 0;
      told.set(entry.actorId, entry.time);
    }
  }
  const last = batches.at(-1);
  const denials = upTo(before, told, chain, last?.sequence ?? 0, last?.entries.at(-1)?.time ?? 0);
  return { made, isStopped: false, denials: { ...denials, failed, nextAt: 0 } };
}

function isDenialOf(entry: AccessEntry, tenantId: string): boolean {
  return entry.tenantId === tenantId && entry.outcome === 'denied' && entry.actorType === 'application';
}

function upTo(
  before: DenialState,
  told: ReadonlyMap<string, number>,
  chain: string,
  sequence: number,
  now: number,
): DenialState {
  const others = before.chains.filter(([name]) => name !== chain);
  const existing = existingOf(before, chain);
  const read: DenialState['chains'][number] = sequence < existing ? [chain, sequence, existing] : [chain, sequence];
  // The times of the last two minutes are kept, because the times in different chains differ slightly. Other times
  // cannot suppress a notification.
  const recent = [...told].filter(([, at]) => areWithin(2 * minuteMs, now, at));
  return { ...before, chains: [...others, read], told: recent };
}

/**
 * Returns true if the times differ by less than `ms`. The later entry has the earlier time if the clock was set back.
 */
function areWithin(ms: number, one: number, other: number): boolean {
  return Math.abs(one - other) < ms;
}

/**
 * Derives an id for a denial, because access log entries have no ids. All attempts to deliver the denial use the same
 * id.
 */
function idOf(chain: string, sequence: number, index: number): string {
  const hex = hash('sha256', JSON.stringify(['strongroom.denial.1', chain, sequence, index]), 'hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function payloadOf({ tenantId, actorId, entityType, entityRef, operation, time }: AccessEntry): string {
  return JSON.stringify({
    type: 'access.denied',
    timestamp: formatTimestamp(time),
    data: {
      tenant_id: tenantId,
      application_id: actorId,
      entity_type: entityType,
      operation,
      ...(entityRef === null ? {} : { entity_ref: entityRef }),
    },
  });
}
