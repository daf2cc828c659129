import { isDeepStrictEqual } from 'node:util';
import { keepAttempts } from '../../commands/webhooks/change-webhook-state.js';
import { atMost } from '../../domain/at-most.js';
import { createLru } from '../../domain/lru.js';
import type { WebhookDocument } from '../../domain/tenancy/webhook.js';
import type { ClearEvent } from '../../events/event.js';
import { tenantStream } from '../../events/tenancy/streams.js';
import { earliestNow, steadyNow } from '../../ports/clock.js';
import { stateFrom, type WebhookState } from '../../ports/webhook-store.js';
import { ForgedWebhookState, type VersionedState } from '../../vault/authentic-webhook-store.js';
import { TenantGone } from '../../vault/tenant-gone.js';
import type { Vault } from '../../vault/vault.js';
import { repeated } from '../repeated.js';
import { type BatchResult, deliverBatch } from './deliver-batch.js';
import { chunkOf, dueOf, eventsAt } from './next-batch.js';
import { createPace } from './pace.js';
import { createSettledLog, type PendingStreams, pageSize } from './settled-log.js';
import { createSubscriptions, type Subscription } from './subscriptions.js';
import { tellDenials } from './tell-denials.js';

type DeliveryDeps = Pick<
  Vault,
  'accessLog' | 'clock' | 'directory' | 'keys' | 'log' | 'reportDamage' | 'webhookSender' | 'webhookStore'
>;

const lanes = 8;
/**
 * When a webhook has this many pending deliveries, the job stops reading the log for that webhook. Later events wait in
 * the log.
 */
const pendingMax = 100;
/**
 * If no event after the stored checkpoint concerns the webhook, a new checkpoint is stored only after this many events.
 */
const unsavedMax = 10_000;
/** The number of webhooks for which this process remembers how far it has searched the log, and when they failed. */
const rememberedMax = 10_000;
/** The number of webhooks whose last batch this process keeps because its result could not be stored. */
const unstoredMax = 1_000;
const pollMs = 200;
/** The waits after failures. Without them, work that always fails would fail and be logged in each poll. */
const afterFailure = { now: () => performance.now(), intervalMs: 0, retryMs: 1_000, retryMsMax: 10_000 };
/** How often all webhooks are offered to other processes if the log has not grown, because retries may be due. */
const carryAgainMs = 1_000;
const housekeepingMs = 3_600_000;
const housekeepingRetryMs = 60_000;
/**
 * How long a sealed token id is kept. This is three days minus one housekeeping interval, because housekeeping may
 * remove the id up to one interval late.
 */
const idKeptMs = 3 * 24 * 3_600_000 - housekeepingMs;
const markKeptMs = 90 * 24 * 3_600_000;

/**
 * Asks a different process to deliver a webhook's events up to a log position. Returns false if no process accepts the
 * work. In that case, this process does the work itself.
 */
export type CarryWebhook = (job: {
  readonly tenantId: string;
  readonly webhookId: string;
  readonly position: number;
}) => Promise<boolean>;

export type WebhookDeliveries = {
  /** Attempts all deliveries that are due now. Resolves when all attempts are finished. */
  run(): Promise<void>;
  /**
   * Attempts the due deliveries of one webhook, as `run` does for all webhooks. Does nothing if the webhook does not
   * exist.
   */
  deliver(tenantId: string, webhookId: string): Promise<void>;
  start(): void;
  stop(): Promise<void>;
};

type Options = {
  /** Offers webhooks to other processes. By default, this process does all of the work itself. */
  readonly carry?: CarryWebhook;
  /** By default, no creation of a token can be undone. */
  readonly pendingStreams?: PendingStreams;
};

/**
 * How far this process has searched the log for a webhook beyond the position in its stored state, and how many events
 * it has skipped since then. It applies only to this state and to these filters.
 */
type Searched = {
  readonly webhook: WebhookDocument;
  readonly version: number;
  readonly position: number;
  readonly skipped: number;
};

/**
 * Delivers events to webhooks (docs/design.md, "Webhooks"). The event log serves as the outbox. Each webhook has a
 * checkpoint, which is a position in the log. Events before the checkpoint whose delivery is still pending are recorded
 * separately. Webhooks do not depend on each other, so a slow webhook does not delay the others. If several processes
 * run this at the same time, an event may be delivered twice.
 */
export function createWebhookDeliveries(
  vault: DeliveryDeps,
  onError: (error: unknown) => void,
  { carry, pendingStreams = async () => new Set() }: Options = {},
): WebhookDeliveries {
  const { webhookStore: store, clock } = vault;
  const subscriptions = createSubscriptions(vault);
  const settledLog = createSettledLog(vault, pendingStreams);
  const busy = new Map<string, Promise<void>>();
  const searched = createLru<Searched>(rememberedMax);
  /** The results that could not be stored, keyed by webhook. */
  const unstored = new Map<string, BatchResult>();
  /** Runs the work of each webhook, unless its last work failed a short time ago. */
  let steps = createLru<(attempt: () => Promise<void>) => Promise<void>>(rememberedMax);
  let timer: NodeJS.Timeout | null = null;
  let carriedUpTo = -1;
  let carryAt = Number.NEGATIVE_INFINITY;
  const pace = createPace();
  /**
   * True if deliveries pause while the thread is busy with requests. `run` leaves this false, because its caller waits
   * for the deliveries.
   */
  let isPaced = false;
  let isStopped = true;
  let isStopping = false;
  let rounds: Promise<void> = Promise.resolve();

  /** Removes old sealed token ids, even those of webhooks that no longer exist. */
  const keepHouse = repeated(
    {
      now: () => steadyNow(clock),
      intervalMs: housekeepingMs,
      retryMs: housekeepingRetryMs,
      retryMsMax: housekeepingMs,
    },
    async () => {
      const earliest = earliestNow(clock);
      await store.forgetIds(earliest - idKeptMs, earliest - markKeptMs);
    },
  );

  /**
   * Returns the stored state of a webhook. If the state is missing or not authentic, the webhook starts again at the
   * position of its creation. In that case, some events may be delivered twice, but no event is lost. Returns null if
   * another process saved a state first, or if the webhook has been deleted.
   */
  async function begin(subscription: Subscription): Promise<VersionedState<WebhookState> | null> {
    const { id } = subscription.webhook;
    const { version, state: stored } = (await store.state(id)) ?? { version: 0, state: undefined };
    if (stored && (stored.replaysFrom === 0 || stored.replaysUpTo)) return { version, state: stored };
    if (stored) {
      const state = { ...stored, replaysUpTo: await createdAt(vault, subscription) };
      return (await store.save(id, version, state, [])) ? { version: version + 1, state } : null;
    }
    // The state may be missing because the webhook was deleted after `subscription` was read. Threat: an attacker damages
    // the tenant after the deletion. If a state were stored before the document is read, the next round would find it.
    if (!(await subscriptions.isListed(subscription))) return null;
    if (stored === null) onError(new ForgedWebhookState(id));
    const state = stateFrom(await createdAt(vault, subscription));
    if (!(await store.save(id, version, state, []))) return null;
    // The webhook may have been deleted before the save. The document is read again after the save: if it still lists
    // the webhook, a later deletion also removes the state that was just saved. If the read fails, the next round reads
    // the webhooks again before it uses the state.
    subscriptions.forget();
    if (await subscriptions.isListed(subscription)) return { version: version + 1, state };
    await store.remove(id);
    return null;
  }

  /**
   * Stores the result of a batch. Returns false if the state was changed since the batch began. If the store fails,
   * keeps the result for the next round. Otherwise, the receiver would get the delivered events again in each round.
   */
  async function storeResult(webhookId: string, result: BatchResult): Promise<boolean> {
    const { version, state, delivered, attempts } = result;
    let isSaved: boolean;
    try {
      isSaved = await store.save(webhookId, version, state, delivered);
    } catch (error) {
      if (unstored.size < unstoredMax) unstored.set(webhookId, result);
      throw error;
    }
    unstored.delete(webhookId);
    if (!isSaved) await keepAttempts(vault, webhookId, attempts);
    return isSaved;
  }

  /**
   * Delivers the events for one webhook up to the end of the log. Stops earlier if too many deliveries of the webhook
   * are pending, or if the webhook was changed, disabled or deleted. After a change, the next round continues.
   */
  async function advance(subscription: Subscription): Promise<void> {
    const { webhook } = subscription;
    const { id } = webhook;
    const left = unstored.get(id);
    if (left !== undefined) await storeResult(id, left);
    let at = await begin(subscription);
    let { position, skipped } = at === null ? { position: 0, skipped: 0 } : searchedUpTo(webhook, at);
    let page: readonly ClearEvent[] = [];
    // True after a page that is not full. Under load, there is always another event, and the next round continues there.
    let isAtEnd = false;
    while (at !== null && !isStopping) {
      const due = dueOf(at.state.pending, clock.now());
      const mayRead = at.state.pending.length < pendingMax;
      if (mayRead && page.length === 0 && !isAtEnd) {
        page = await settledLog.read(position, subscription.tenantId);
        isAtEnd = page.length < pageSize;
      }
      const { chunk, upTo } = chunkOf(subscription, at.state, mayRead ? page : [], position);
      if (due.length === 0 && chunk.length === 0) {
        if (!mayRead || page.length === 0) break;
        position = upTo;
        skipped += page.length;
        page = [];
        searched.set(id, { webhook, version: at.version, position, skipped });
        if (skipped < unsavedMax) continue;
      }
      if (!(await subscriptions.isCurrent(subscription))) return;
      const { retried, missing, unreadable } = await eventsAt(vault, due);
      for (const { stream, revision } of missing) {
        onError(new Error(`webhook ${id} waited for event ${revision} of ${stream}, which is missing in the log`));
      }
      const { state, delivered, attempts, failures } = await deliverBatch(vault, subscription, at.state, {
        retried,
        missing,
        unreadable,
        chunk,
        upTo,
      });
      const isSaved = await storeResult(id, { version: at.version, state, delivered, attempts });
      if (failures.length > 0) throw failures[0];
      at = isSaved ? { version: at.version + 1, state } : null;
      position = state.position;
      skipped = 0;
      page = page.filter((event) => event.position > state.position);
      if (isPaced) await pace.rest(retried.length + chunk.length, busy.size);
    }
    if (at !== null && !isStopping) {
      const storeDenials = (result: BatchResult) => storeResult(id, result);
      await tellDenials(vault, subscription, at, () => subscriptions.isCurrent(subscription), storeDenials);
    }
  }

  /**
   * Returns where the search of the log continues. Without the remembered position, each round would read again all
   * events that have been skipped since the position was stored.
   */
  function searchedUpTo(webhook: WebhookDocument, { version, state }: VersionedState<WebhookState>) {
    const known = searched.get(webhook.id);
    const applies = known?.version === version && isDeepStrictEqual(known.webhook, webhook);
    return applies ? known : { position: state.position, skipped: 0 };
  }

  function stepOf(webhookId: string) {
    const step = steps.get(webhookId) ?? repeated(afterFailure, (attempt: () => Promise<void>) => attempt());
    steps.set(webhookId, step);
    return step;
  }

  /** Runs the work of a webhook. If it is already running, waits for it instead. Reports errors and never throws. */
  function work(webhookId: string, attempt: () => Promise<void>): Promise<void> {
    const running = busy.get(webhookId);
    if (running !== undefined) return running;
    const done = stepOf(webhookId)(attempt)
      .catch((error: unknown) => {
        if (!(error instanceof TenantGone)) onError(error);
      })
      .finally(() => busy.delete(webhookId));
    busy.set(webhookId, done);
    return done;
  }

  const workOn = (subscription: Subscription) => work(subscription.webhook.id, () => advance(subscription));

  async function round(): Promise<readonly Promise<void>[]> {
    const all = await subscriptions.all();
    await keepHouse();
    settledLog.forget();
    return all.filter(({ webhook }) => webhook.enabled).map(workOn);
  }

  /**
   * Offers all webhooks to other processes whenever the log has grown. Otherwise, offers them once per second, because
   * retries may be due.
   */
  async function handOver(mayCarry: CarryWebhook): Promise<void> {
    const all = await subscriptions.all();
    await keepHouse();
    if (all.length === 0) return;
    const position = await vault.log.head();
    if (position === carriedUpTo && performance.now() < carryAt) return;
    carriedUpTo = position;
    carryAt = performance.now() + carryAgainMs;
    settledLog.forget();
    await atMost(lanes, all, async (subscription) => {
      const { tenantId, webhook } = subscription;
      if (!webhook.enabled || (await mayCarry({ tenantId, webhookId: webhook.id, position }))) return;
      void workOn(subscription);
    });
  }

  const nextRound = repeated(afterFailure, () => (carry === undefined ? round() : handOver(carry)));

  async function poll(): Promise<void> {
    await nextRound().catch(onError);
    if (!isStopped) {
      timer = setTimeout(() => {
        rounds = poll();
      }, pollMs);
    }
  }

  return {
    async run() {
      subscriptions.forget();
      steps = createLru(rememberedMax);
      await Promise.all(await round());
    },
    async deliver(tenantId, webhookId) {
      settledLog.forget();
      isPaced = true;
      await work(webhookId, async () => {
        const subscription = await subscriptions.find(tenantId, webhookId);
        if (subscription?.webhook.enabled === true) await advance(subscription);
      });
    },
    start() {
      isStopped = false;
      isPaced = true;
      rounds = poll();
    },
    async stop() {
      isStopped = true;
      isStopping = true;
      if (timer !== null) clearTimeout(timer);
      await rounds;
      await Promise.all(busy.values());
    },
  };
}

/** Returns the position of the event that created a webhook. */
async function createdAt({ log }: Pick<Vault, 'log'>, { tenantId, webhook }: Subscription): Promise<number> {
  for (let from = 0; ; from += pageSize) {
    const page = await log.readClearFrom(tenantStream(tenantId), from, pageSize);
    const created = page.find(({ type, clear }) => type === 'webhook.created' && clear['webhook_id'] === webhook.id);
    if (created !== undefined) return created.position;
    if (page.length < pageSize) throw new Error('the event that created this webhook is missing');
  }
}
