/** The outcomes of an attempt. `parked` means that it failed and was the last attempt. */
export const attemptOutcomes = ['delivered', 'failed', 'parked'] as const;

/** One attempt to deliver an event. It identifies the event but never the token. */
export type WebhookAttempt = {
  readonly eventId: string;
  readonly eventType: string;
  /** The time of the attempt, in milliseconds since the epoch. */
  readonly at: number;
  readonly durationMs: number;
  /** The attempt number, counted from 1. */
  readonly attempt: number;
  readonly outcome: (typeof attemptOutcomes)[number];
  /** The response status. Null if there was no response. */
  readonly status: number | null;
  /** The reason why there was no response. The text comes only from our own code. Null if there was a response. */
  readonly problem: string | null;
  /** The time in ms when the next attempt is due. Null if there will be no more attempts. */
  readonly nextAt: number | null;
};

/**
 * An event that has been passed in the log but not delivered yet: its first attempt failed, it waits for an earlier
 * event of its token, or it could not be read. Only its place in the log is stored. The event itself is read from the
 * log.
 */
export type PendingDelivery = {
  readonly position: number;
  readonly stream: string;
  readonly revision: number;
  /** The number of failed attempts. */
  readonly attempts: number;
  readonly nextAt: number;
  /**
   * Identifies the webhook's `containers` at the last failed attempt, which the token passed. Absent if there was no
   * attempt, or if an older version stored the state.
   */
  readonly passed?: string | undefined;
};

/** How far the access log has been read for a webhook. */
export type DenialState = {
  /**
   * The last batch that was read from each chain. The batches up to `existing` were written before the vault began to
   * read the access log for the webhook, so they may contain denials from before its creation. `existing` is absent once
   * they have been read, and in states that an older version stored.
   */
  readonly chains: readonly (readonly [chain: string, sequence: number, existing?: number])[];
  /** For each application, the time (ms) of its most recent denial that was reported to the webhook. */
  readonly told: readonly (readonly [applicationId: string, at: number])[];
  /** The number of failed attempts to report the next denial, and the time of the next attempt, in ms. */
  readonly failed: number;
  readonly nextAt: number;
};

/** How far deliveries to a webhook have progressed. Contains positions, event ids and times, but no token ids. */
export type WebhookState = {
  /** Every event up to this position has been delivered, is pending, or has been given up (`parked`). */
  readonly position: number;
  /** The start of the period that was last replayed, in ms, or 0 if there was no replay. */
  readonly replaysFrom: number;
  /**
   * The position that the webhook had reached when it was replayed. The replay skips events before `replaysFrom` only up
   * to this position, because the webhook has not received the later events yet. If it is absent or 0, the webhook had
   * no state, or an older version stored the state. The delivery job then uses the position of the webhook's creation.
   */
  readonly replaysUpTo?: number;
  readonly pending: readonly PendingDelivery[];
  /** The most recent attempts, newest first. */
  readonly attempts: readonly WebhookAttempt[];
  /** The last attempt of each delivery that has been given up and not been delivered since, newest first. */
  readonly parked: readonly WebhookAttempt[];
  /** Null if no denials have been reported to the webhook yet. */
  readonly denials: DenialState | null;
};

/**
 * A state as it is stored: text that the store does not interpret, and a version number that increases by one with each
 * change.
 */
export type StoredWebhookState = { readonly version: number; readonly text: string };

/** The id of a token that is about to be deleted or to expire, sealed under a webhook's key. */
export type SealedTokenId = {
  readonly webhookId: string;
  readonly eventId: string;
  readonly sealed: Uint8Array;
  /** The time of the event that deletes or expires the token, in milliseconds since the epoch. */
  readonly at: number;
};

/** Stores webhook states, and the sealed ids of deleted and expired tokens. */
export interface WebhookStore {
  state(webhookId: string): Promise<StoredWebhookState | null>;
  /**
   * Replaces the state if its version is still `version`, and then removes the sealed ids of the delivered events. Pass
   * 0 as `version` if no state has been stored yet. Returns false and changes nothing if the version differs, because
   * another process has changed the state.
   */
  save(webhookId: string, version: number, text: string, deliveredEventIds: readonly string[]): Promise<boolean>;
  /** Removes a webhook's state and sealed ids. */
  remove(webhookId: string): Promise<void>;
  /** Stores sealed ids. They are durable once the promise resolves. */
  keepIds(ids: readonly SealedTokenId[]): Promise<void>;
  /**
   * Returns the sealed ids for these events, keyed by event id. If `forgetIds` has emptied a sealed id, the map
   * contains an empty array for it.
   */
  sealedIds(webhookId: string, eventIds: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
  /**
   * Empties the sealed ids that are older than `notBefore` (ms), and removes the sealed ids that are older than
   * `markedBefore` (ms). An emptied id still records that the token passed the webhook's filters.
   */
  forgetIds(notBefore: number, markedBefore: number): Promise<void>;
}

/** Returns the initial state of a webhook. Deliveries begin with the first event after this position of the log. */
export function stateFrom(position: number): WebhookState {
  return { position, replaysFrom: 0, pending: [], attempts: [], parked: [], denials: null };
}

const attemptsKept = 100;
const parkedKept = 200;

/**
 * Returns the state with these attempts added. A delivery that had been given up is no longer listed as such once a
 * replay has delivered it, and is listed only once if it is given up again. Its earlier last attempt then counts as
 * failed.
 */
export function withAttempts(state: WebhookState, made: readonly WebhookAttempt[]): WebhookState {
  const newestFirst = [...made].sort((one, other) => other.at - one.at);
  const parked = newestFirst.filter(({ outcome }) => outcome === 'parked');
  const ended = new Set(made.filter(({ outcome }) => outcome !== 'failed').map(({ eventId }) => eventId));
  const others = state.parked.filter(({ eventId }) => !ended.has(eventId));
  const earlier = state.attempts.map(
    (attempt): WebhookAttempt =>
      attempt.outcome === 'parked' && ended.has(attempt.eventId) ? { ...attempt, outcome: 'failed' } : attempt,
  );
  return {
    ...state,
    attempts: [...newestFirst, ...earlier].slice(0, attemptsKept),
    parked: [...parked, ...others].slice(0, parkedKept),
  };
}
