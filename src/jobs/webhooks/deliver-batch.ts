import { createHmac } from 'node:crypto';
import { attemptDelivery } from '../../commands/webhooks/post-to-webhook.js';
import { atMost } from '../../domain/at-most.js';
import { coversContainers, type WebhookDocument } from '../../domain/tenancy/webhook.js';
import { formatTimestamp } from '../../domain/time.js';
import type { TokenType } from '../../domain/token/types/token-type.js';
import { refOfTokenStream } from '../../events/access-log/entity-ref.js';
import type { ClearEvent } from '../../events/event.js';
import { endsToken } from '../../events/tokens/catalogue.js';
import { isTokenStream } from '../../events/tokens/stream-name.js';
import { openTokenId } from '../../events/webhooks/sealed-id.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import {
  type PendingDelivery,
  type WebhookAttempt,
  type WebhookState,
  withAttempts,
} from '../../ports/webhook-store.js';
import { isBehindLog, loadToken, tokenTypeAt } from '../../vault/load-token.js';
import { contentUnlessLost, type OpenTokenDeps } from '../../vault/open-token.js';
import type { Vault } from '../../vault/vault.js';
import type { Subscription } from './subscriptions.js';

const lanes = 8;
/** The maximum number of fences that are skipped in the search for the event that undoes a creation. */
const fencesMax = 7;
/** How long an event that could not be read waits before it is read again, in ms. */
const unreadableMs = 60_000;

/** The event of a pending delivery, and the number of attempts that have failed. */
export type Retried = { readonly event: ClearEvent; readonly failed: number };

/** A pending delivery whose event cannot be read, and the reason. */
export type Unreadable = { readonly delivery: PendingDelivery; readonly error: unknown };

/** The result of a batch. `version` is the version of the state before the batch. */
export type BatchResult = {
  readonly version: number;
  readonly state: WebhookState;
  readonly delivered: readonly string[];
  readonly attempts: readonly WebhookAttempt[];
};

type Batch = {
  readonly retried: readonly Retried[];
  /** Pending deliveries that are dropped, because their events are missing. */
  readonly missing: readonly PendingDelivery[];
  readonly unreadable: readonly Unreadable[];
  readonly chunk: readonly ClearEvent[];
  /** The webhook's checkpoint after this batch. */
  readonly upTo: number;
};

/**
 * Delivers a batch and returns the resulting state. The events of each token are delivered in order. An event that
 * cannot be read stays pending, and `failures` contains the error. If a store is unavailable, starts no further
 * attempts, and the rest of the batch stays pending too. The caller must store the state even then: otherwise, the
 * receiver would get the delivered events again in each round.
 */
export async function deliverBatch(
  vault: OpenTokenDeps & Pick<Vault, 'log' | 'webhookSender' | 'webhookStore'>,
  subscription: Subscription,
  before: WebhookState,
  { retried, missing, unreadable, chunk, upTo }: Batch,
): Promise<Omit<BatchResult, 'version'> & { readonly failures: readonly unknown[] }> {
  const kept = before.pending.filter((one) => !missing.includes(one));
  const pending = new Map(kept.map((one) => [one.position, one]));
  const delivered: string[] = [];
  const attempts: WebhookAttempt[] = [];
  const failures = unreadable.map(({ error }) => error);
  let isDown = false;
  const waiting = new Set(kept.map(({ stream }) => stream));
  const ended = [...retried.map(({ event }) => event), ...chunk]
    .filter(({ type }) => endsToken(type))
    .map(({ id }) => id);
  const sealedIds = await vault.webhookStore.sealedIds(subscription.webhook.id, ended);
  const filter = containersTag(subscription.webhook);

  function keep(event: ClearEvent, failed: number, nextAt: number, passed = passedBy(event)): void {
    const { position, stream, revision } = event;
    pending.set(position, { position, stream, revision, attempts: failed, nextAt, passed });
    waiting.add(stream);
  }

  function passedBy({ position }: ClearEvent): string | undefined {
    return pending.get(position)?.passed;
  }

  async function attempt(event: ClearEvent, failed: number): Promise<void> {
    // Threat: a webhook gets a new receiver and narrower filters, and the receiver gets a waiting event of another token.
    const payload = await payloadOf(vault, subscription, event, sealedIds, passedBy(event) === filter);
    if (payload === null) {
      pending.delete(event.position);
      return;
    }
    const made = await attemptDelivery(vault, subscription.webhook, event, payload, failed);
    attempts.push(made);
    if (made.outcome === 'delivered') delivered.push(event.id);
    if (made.nextAt === null) pending.delete(event.position);
    else keep(event, failed + 1, made.nextAt, filter);
  }

  async function attemptUnlessFailed(event: ClearEvent, failed: number): Promise<void> {
    if (isDown) return keep(event, failed, 0);
    try {
      await attempt(event, failed);
    } catch (error) {
      failures.push(error);
      const isOutage = error instanceof StoreUnavailable;
      isDown ||= isOutage;
      keep(event, failed, isOutage ? 0 : vault.clock.now() + unreadableMs);
    }
  }

  for (const { delivery } of unreadable) {
    pending.set(delivery.position, { ...delivery, nextAt: vault.clock.now() + unreadableMs });
  }
  await atMost(lanes, retried, ({ event, failed }) => attemptUnlessFailed(event, failed));
  const byStream = new Map<string, ClearEvent[]>();
  for (const event of chunk) byStream.set(event.stream, [...(byStream.get(event.stream) ?? []), event]);
  await atMost(lanes, [...byStream.values()], async (events) => {
    for (const event of events) {
      if (waiting.has(event.stream)) keep(event, 0, 0);
      else await attemptUnlessFailed(event, 0);
    }
  });
  return {
    delivered,
    attempts,
    failures,
    state: {
      ...withAttempts(before, attempts),
      position: upTo,
      pending: [...pending.values()].sort((one, other) => one.position - other.position),
    },
  };
}

/**
 * Returns the body of a delivery. The body contains ids but never data. Returns null if the event does not pass the
 * webhook's filters. If `isKnown` is true, the token passed the same containers in an earlier attempt. They are not
 * checked again, because the token may have left them or may be gone.
 */
async function payloadOf(
  vault: Pick<Vault, 'directory' | 'keys' | 'log'>,
  { tenantId, webhook }: Subscription,
  event: ClearEvent,
  sealedIds: ReadonlyMap<string, Uint8Array>,
  isKnown: boolean,
): Promise<string | null> {
  const types: readonly string[] = webhook.event_types;
  if (!types.includes(event.type)) return null;
  const about: Record<string, string | number> = { tenant_id: tenantId };
  if (isTokenStream(event.stream)) {
    const token = await tokenOf(vault, webhook, event, sealedIds);
    if (token === null) return null;
    if (webhook.token_types !== null && !webhook.token_types.includes(token.type)) return null;
    if (!(token.isCovered || isKnown)) return null;
    if (token.id !== null) about['token_id'] = token.id;
    about['entity_ref'] = refOfTokenStream(event.stream);
    about['token_type'] = token.type;
    about['revision'] = event.revision;
  } else {
    for (const name of ['application_id', 'key_id'] as const) {
      const id = event.clear[name];
      if (typeof id === 'string') about[name] = id;
    }
  }
  return JSON.stringify({ type: event.type, timestamp: formatTimestamp(event.time), data: about });
}

/** Returns a text that changes with the webhook's containers and does not reveal them. */
function containersTag({ id_key: key, containers }: WebhookDocument): string {
  const facts = JSON.stringify(['strongroom.webhook-containers.1', containers?.toSorted() ?? null]);
  return createHmac('sha256', Buffer.from(key, 'base64')).update(facts).digest('base64url').slice(0, 22);
}

type Told = {
  /** The token's id. Null if the token cannot be read and no sealed id is available. */
  readonly id: string | null;
  readonly type: TokenType;
  /**
   * True if the token passes the webhook's container filter. If the token cannot be read, its containers are unknown.
   * In that case, the token passes if the webhook has no container filter, or if an id was sealed for the event.
   */
  readonly isCovered: boolean;
};

/** Returns null if the token was never created, because the request that was to create it failed. */
async function tokenOf(
  vault: Pick<Vault, 'directory' | 'keys' | 'log'>,
  webhook: WebhookDocument,
  event: ClearEvent,
  sealedIds: ReadonlyMap<string, Uint8Array>,
): Promise<Told | null> {
  const { tenantId, stream, revision } = event;
  const view = await loadToken(vault, tenantId, stream);
  const { life } = view.state;
  if (life !== null && life.createdRevision <= revision) {
    const open = await contentUnlessLost(vault, view, life);
    if (open !== null) {
      return { id: open.id, type: life.tokenType, isCovered: coversContainers(webhook, open.containers) };
    }
    // The token may have been changed between the read of its events and the read of its key. It may still exist.
    if (await isBehindLog(vault, view)) return tokenOf(vault, webhook, event, sealedIds);
  }
  if (await isUndone(vault, event)) return null;
  const type = await tokenTypeAt(vault, stream, revision);
  const sealed = sealedIds.get(event.id);
  const id = sealed === undefined || sealed.length === 0 ? null : openTokenId(webhook, sealed, event);
  return { id, type, isCovered: webhook.containers === null || sealed !== undefined };
}

/** Returns true if this event removes a token because the request that created it had failed halfway. */
export function undoesCreation({ type, clear }: ClearEvent): boolean {
  return type === 'token.deleted' && clear['reason'] === 'undone';
}

/**
 * Returns true if this event created a token that was then removed because the request had failed halfway. Only fences
 * can be between the two events.
 */
async function isUndone({ log }: Pick<Vault, 'log'>, { type, stream, revision }: ClearEvent): Promise<boolean> {
  if (type !== 'token.created') return false;
  const next = (await log.readClearFrom(stream, revision + 1, fencesMax + 1)).find(
    ({ type }) => type !== 'token.fenced',
  );
  return next !== undefined && undoesCreation(next);
}
