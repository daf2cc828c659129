/** One attempt to deliver an event. It names the event, never the token. */
export type WebhookAttempt = {
  readonly eventId: string;
  readonly eventType: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly durationMs: number;
  /** From 1. */
  readonly attempt: number;
  readonly outcome: 'delivered' | 'failed' | 'parked';
  /** The status of the response; null if there was none. */
  readonly status: number | null;
  /** Why there was no response, in words of ours. */
  readonly problem: string | null;
  /** When it is tried again, ms; null if never. */
  readonly nextAt: number | null;
};

/** An event that was not delivered by its first attempt. The log holds the event; this is its place in the log. */
export type PendingDelivery = {
  readonly position: number;
  readonly stream: string;
  readonly revision: number;
  /** How many attempts have failed. */
  readonly attempts: number;
  readonly nextAt: number;
};

/** How far a webhook has come in the access log. */
export type DenialState = {
  /** The last batch of each chain that was read. */
  readonly chains: readonly (readonly [chain: string, sequence: number])[];
  /** The time of the last denial of each application that the webhook was told of, ms. */
  readonly told: readonly (readonly [applicationId: string, at: number])[];
  /** The number of failed attempts at the next denial, and the time of the next attempt, ms. */
  readonly failed: number;
  readonly nextAt: number;
};

/** How far a webhook has come. It contains positions, ids of events and times, and no id of a token. */
export type WebhookState = {
  /** Every event up to this position was delivered, is pending, or was parked. */
  readonly position: number;
  /**
   * Events before this time are left out, because a replay from that time is running. In milliseconds; 0 if there is
   * none.
   */
  readonly replaysFrom: number;
  readonly pending: readonly PendingDelivery[];
  /** The newest attempts, newest first. */
  readonly attempts: readonly WebhookAttempt[];
  /** The last attempts of deliveries that were given up, newest first. */
  readonly parked: readonly WebhookAttempt[];
  /** Null if the webhook has not been told of any denials yet. */
  readonly denials: DenialState | null;
};

/** A state as it is stored: a text that the store does not read. Each change raises the version by one. */
export type StoredWebhookState = { readonly version: number; readonly text: string };

/** The id of a token that is about to end, sealed under the key of a webhook. */
export type SealedTokenId = {
  readonly webhookId: string;
  readonly eventId: string;
  readonly sealed: Uint8Array;
  /** Milliseconds since the epoch. */
  readonly at: number;
};

/** Where webhooks keep their states, and the sealed ids of tokens that have ended since. */
export interface WebhookStore {
  state(webhookId: string): Promise<StoredWebhookState | null>;
  /**
   * Replaces a state if it still has the version (0: there is none yet), and then removes the sealed ids of these
   * events. Returns false and changes nothing if another process has changed the state since.
   */
  save(webhookId: string, version: number, text: string, deliveredEventIds: readonly string[]): Promise<boolean>;
  /** Removes the state and the sealed ids of a webhook. */
  remove(webhookId: string): Promise<void>;
  /** Stores sealed ids; they are durable when it resolves. */
  keepIds(ids: readonly SealedTokenId[]): Promise<void>;
  /** Returns the sealed ids of these events by event id. An id that was emptied after its time has no bytes. */
  sealedIds(webhookId: string, eventIds: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
  /**
   * Empties sealed ids from before a time, ms. An emptied one still says that the token passed the filters. Removes
   * those from before `markedBefore` completely.
   */
  forgetIds(notBefore: number, markedBefore: number): Promise<void>;
}

/** Returns the state of a webhook that begins at a position. */
export function stateFrom(position: number, replaysFrom = 0): WebhookState {
  return { position, replaysFrom, pending: [], attempts: [], parked: [], denials: null };
}

const attemptsKept = 100;
const parkedKept = 200;

/** Returns the state with further attempts. */
export function withAttempts(state: WebhookState, made: readonly WebhookAttempt[]): WebhookState {
  const newestFirst = [...made].sort((one, other) => other.at - one.at);
  const parked = newestFirst.filter(({ outcome }) => outcome === 'parked');
  return {
    ...state,
    attempts: [...newestFirst, ...state.attempts].slice(0, attemptsKept),
    parked: [...parked, ...state.parked].slice(0, parkedKept),
  };
}
