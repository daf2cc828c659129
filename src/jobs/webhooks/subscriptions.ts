import { isDeepStrictEqual } from 'node:util';
import type { WebhookDocument } from '../../domain/tenancy/webhook.js';
import { forTenants } from '../../vault/for-tenants.js';
import { openTenant, tenantDocument } from '../../vault/open-directory.js';
import type { Vault } from '../../vault/vault.js';

const refreshMs = 1_000;
/** Limits how often the list of tenants is read. Reading the list takes at most about 1/`refreshShare` of the time. */
const refreshShare = 50;

export type Subscription = { readonly tenantId: string; readonly webhook: WebhookDocument };

/** The webhooks in this revision of a tenant's document. */
type OfTenant = { readonly revision: number; readonly subscriptions: readonly Subscription[] };

export type Subscriptions = {
  /** Returns the webhooks of all tenants. The list is usually at most one second old. */
  all(): Promise<readonly Subscription[]>;
  /** Discards the list, so that the next call of `all` reads the webhooks again. */
  forget(): void;
  /** Returns a webhook as it is now, or null if it does not exist. */
  find(tenantId: string, webhookId: string): Promise<Subscription | null>;
  /** Returns true if the webhook has not been deleted. */
  isListed(subscription: Subscription): Promise<boolean>;
  /** Returns true if the webhook has neither been changed nor deleted. */
  isCurrent(subscription: Subscription): Promise<boolean>;
};

/** Creates the list of webhooks. It decrypts a tenant's document only if the document has changed since the last time. */
export function createSubscriptions(vault: Pick<Vault, 'directory' | 'keys' | 'reportDamage'>): Subscriptions {
  let documents: ReadonlyMap<string, OfTenant> = new Map();
  let subscriptions: readonly Subscription[] = [];
  let refreshAt = Number.NEGATIVE_INFINITY;
  /** How often the list was discarded. */
  let discards = 0;

  async function read(): Promise<void> {
    const beganAt = performance.now();
    const discardsBefore = discards;
    const found = new Map<string, OfTenant>();
    await forTenants(vault, null, async (record) => {
      const { id, contentRevision: revision } = record;
      const known = documents.get(id);
      if (known?.revision === revision) return void found.set(id, known);
      const tenant = await openTenant(vault, record);
      const ofTenant = (tenant?.webhooks ?? []).map((webhook) => ({ tenantId: id, webhook }));
      found.set(id, { revision, subscriptions: ofTenant });
    });
    // The webhooks of a damaged tenant pause. Threat: an attacker changes the row of a tenant, so that a webhook that has
    // been deleted or disabled since the last read still receives events.
    documents = found;
    subscriptions = [...documents.values()].flatMap((one) => one.subscriptions);
    const endedAt = performance.now();
    // If the list was discarded during this read, the read may have missed the change, so the next call reads again.
    if (discards === discardsBefore) refreshAt = endedAt + Math.max(refreshMs, refreshShare * (endedAt - beganAt));
  }

  function forget(): void {
    discards += 1;
    refreshAt = Number.NEGATIVE_INFINITY;
  }

  async function find(tenantId: string, webhookId: string): Promise<Subscription | null> {
    const tenant = await tenantDocument(vault, tenantId);
    const webhook = tenant?.webhooks.find(({ id }) => id === webhookId);
    return webhook === undefined ? null : { tenantId, webhook };
  }

  /** Returns the webhook as it is now. If it differs from `subscription`, the next round reads the webhooks again. */
  async function listed(subscription: Subscription): Promise<Subscription | null> {
    const now = await find(subscription.tenantId, subscription.webhook.id);
    if (!isDeepStrictEqual(now, subscription)) forget();
    return now;
  }

  return {
    async all() {
      if (performance.now() >= refreshAt) await read();
      return subscriptions;
    },
    forget,
    find,
    isListed: async (subscription) => (await listed(subscription)) !== null,
    isCurrent: async (subscription) => isDeepStrictEqual(await listed(subscription), subscription),
  };
}
