import type { ApplicationDocument, TenantDocument } from './documents.js';

/**
 * An event in a tenant's directory. `document` is the complete tenant or application after the event, and is encrypted.
 * Everything else is stored in plaintext: random ids, field names, and the hashes of API keys. Every API key has 256
 * random bits, so it cannot be guessed from its hash. `changed` lists the changed top-level fields by their names in
 * requests.
 */
export type DirectoryFact =
  | { readonly type: 'tenant.created'; readonly document: TenantDocument }
  | { readonly type: 'tenant.updated'; readonly document: TenantDocument; readonly changed: readonly string[] }
  | { readonly type: 'tenant.deleted' }
  /** `document` is the tenant's document, which contains its webhooks. */
  | {
      readonly type: 'webhook.created' | 'webhook.deleted';
      readonly webhookId: string;
      readonly document: TenantDocument;
    }
  | {
      readonly type: 'webhook.updated';
      readonly webhookId: string;
      readonly document: TenantDocument;
      readonly changed: readonly string[];
    }
  | { readonly type: 'application.created'; readonly applicationId: string; readonly document: ApplicationDocument }
  | {
      readonly type: 'application.updated';
      readonly applicationId: string;
      readonly document: ApplicationDocument;
      readonly changed: readonly string[];
    }
  | { readonly type: 'application.deleted'; readonly applicationId: string }
  | {
      readonly type: 'application.key.issued' | 'application.key.revoked';
      readonly applicationId: string;
      readonly keyId: string;
      readonly keyHash: string;
      readonly document: ApplicationDocument;
    };

export type DirectoryFactType = DirectoryFact['type'];
