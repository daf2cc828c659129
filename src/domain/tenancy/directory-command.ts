import type { AccessFields } from '../access/parse-access.js';
import type { TenantSettings } from '../access/tenant-settings.js';
import type { Json } from '../json.js';
import type { ApplicationSpec } from './application-spec.js';
import type { NewWebhookSecret, WebhookSpec } from './webhook.js';

/**
 * The id and the hash of a new API key that has not been shown to the caller yet. Only the hash is stored, never the
 * key itself.
 */
export type NewKey = { readonly id: string; readonly hash: string };

/**
 * The time of the last change that the caller has seen, in ms. If the target has been changed since, the command is
 * rejected. If absent, the command is executed in any case. Threat: two people save the same form at the same moment,
 * and one change silently replaces the other, such as a reduction of rights.
 */
export type Seen = { readonly seenChange?: number | undefined };

/** A command on a tenant, or on one of its applications or webhooks. */
export type DirectoryCommand =
  | { readonly kind: 'create_tenant'; readonly name: string }
  | (Seen & { readonly kind: 'update_tenant'; readonly name: string; readonly settings: Partial<TenantSettings> })
  /** `name` must repeat the tenant's name, as a confirmation. */
  | { readonly kind: 'delete_tenant'; readonly name: string }
  | { readonly kind: 'create_application'; readonly id: string; readonly spec: ApplicationSpec; readonly key: NewKey }
  | (Seen & {
      readonly kind: 'update_application';
      readonly id: string;
      readonly name: string;
      /** The access fields from the request. The application's stored type determines which permissions are allowed. */
      readonly access: AccessFields;
      /**
       * The application type from the request. It must be the same as the stored type. Undefined or null if the request
       * omits it.
       */
      readonly type: Json | undefined;
      /** The new expiry time in ms since the epoch. Undefined keeps the current expiry, and null removes it. */
      readonly expiresAt: number | null | undefined;
    })
  | { readonly kind: 'delete_application'; readonly id: string }
  | { readonly kind: 'issue_key'; readonly id: string; readonly key: NewKey }
  | { readonly kind: 'revoke_key'; readonly id: string; readonly keyId: string }
  | {
      readonly kind: 'create_webhook';
      readonly webhookId: string;
      readonly spec: WebhookSpec;
      readonly secret: NewWebhookSecret;
      /** The key that seals the ids of deleted and expired tokens, in base64. */
      readonly idKey: string;
    }
  /** Fields that are absent from `spec` do not change. */
  | (Seen & { readonly kind: 'update_webhook'; readonly webhookId: string; readonly spec: Partial<WebhookSpec> })
  | (Seen & {
      readonly kind: 'rotate_webhook_secret';
      readonly webhookId: string;
      readonly secret: NewWebhookSecret;
      /** How long the previous secrets continue to sign deliveries, in ms. */
      readonly overlapMs: number;
    })
  | { readonly kind: 'delete_webhook'; readonly webhookId: string };

export type WebhookCommand = Extract<DirectoryCommand, { readonly webhookId: string }>;

export type ApplicationCommand = Extract<DirectoryCommand, { readonly id: string }>;
