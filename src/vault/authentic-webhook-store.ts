import { createHmac, timingSafeEqual } from 'node:crypto';
import type { WebhookState, WebhookStore } from '../ports/webhook-store.js';

/**
 * A state and its version number. The version number increases by one with each change. The state is null if the vault
 * did not write it.
 */
export type VersionedState<S extends WebhookState | null = WebhookState | null> = {
  readonly version: number;
  readonly state: S;
};

export type AuthenticWebhookStore = Omit<WebhookStore, 'state' | 'save'> & {
  state(webhookId: string): Promise<VersionedState | null>;
  /** Same as `WebhookStore.save`, but adds a MAC to the state. */
  save(webhookId: string, version: number, state: WebhookState, deliveredEventIds: readonly string[]): Promise<boolean>;
};

/** Thrown if a webhook's stored state was not written by the vault. The service log shows only this error's name. */
export class ForgedWebhookState extends Error {
  constructor(webhookId: string) {
    super(`the state of webhook ${webhookId} is not authentic`);
    this.name = 'ForgedWebhookState';
  }
}

/**
 * Stores each webhook's state with a MAC, and verifies the MAC on each read. This works with every store. Threat: an
 * attacker who can write the rows moves a checkpoint forward, and the receiver is never notified of a deletion. An
 * older state is harmless, because it only causes events to be delivered again.
 */
export function authenticWebhookStore(store: WebhookStore, key: Uint8Array): AuthenticWebhookStore {
  return {
    ...store,
    async state(webhookId) {
      const stored = await store.state(webhookId);
      if (stored === null) return null;
      const { version, text } = stored;
      return { version, state: stateIn(text, macOf(key, webhookId, version, jsonIn(text))) };
    },
    save(webhookId, version, state, delivered) {
      const json = JSON.stringify(state);
      return store.save(webhookId, version, `${macOf(key, webhookId, version + 1, json)}.${json}`, delivered);
    },
  };
}

function jsonIn(text: string): string {
  return text.slice(text.indexOf('.') + 1);
}

function stateIn(text: string, mac: string): WebhookState | null {
  const [stored, computed] = [Buffer.from(text.slice(0, text.indexOf('.'))), Buffer.from(mac)];
  const isAuthentic = stored.length === computed.length && timingSafeEqual(stored, computed);
  return isAuthentic ? (JSON.parse(jsonIn(text)) as WebhookState) : null;
}

function macOf(key: Uint8Array, webhookId: string, version: number, json: string): string {
  const facts = JSON.stringify(['strongroom.webhook.1', webhookId, version, json]);
  return createHmac('sha256', key).update(facts).digest('base64url');
}
