import type { AccessFields } from '../access/parse-access.js';
import type { TenantSettings } from '../access/tenant-settings.js';
import type { Json } from '../json.js';
import type { ApplicationSpec } from './application-spec.js';
import type { NewWebhookSecret, WebhookSpec } from './webhook.js';

/** A new key that was not shown yet: its id, and the hash that is stored. */
export type NewKey = { readonly id: string; readonly hash: string };

/** A command on a tenant or on one of its applications. */
export type DirectoryCommand =
  | { readonly do: 'create_tenant'; readonly name: string }
  | { readonly do: 'update_tenant'; readonly name: string; readonly settings: Partial<TenantSettings> }
  /** `name` repeats the name of the tenant, as a confirmation. */
  | { readonly do: 'delete_tenant'; readonly name: string }
  | { readonly do: 'create_application'; readonly id: string; readonly spec: ApplicationSpec; readonly key: NewKey }
  | {
      readonly do: 'update_application';
      readonly id: string;
      readonly name: string;
      /** As given in the request. Which are allowed depends on the stored type. */
      readonly access: AccessFields;
      /** The type, if the request repeats it; undefined or null if not. */
      readonly type: Json | undefined;
      /** Undefined: unchanged. Null: never. */
      readonly expiresAt: number | null | undefined;
    }
  | { readonly do: 'delete_application'; readonly id: string }
  | { readonly do: 'issue_key'; readonly id: string; readonly key: NewKey }
  | { readonly do: 'revoke_key'; readonly id: string; readonly keyId: string }
  | {
      readonly do: 'create_webhook';
      readonly webhookId: string;
      readonly spec: WebhookSpec;
      readonly secret: NewWebhookSecret;
      /** The key that ids of ended tokens are sealed under, base64. */
      readonly idKey: string;
    }
  | { readonly do: 'update_webhook'; readonly webhookId: string; readonly spec: WebhookSpec }
  | {
      readonly do: 'rotate_webhook_secret';
      readonly webhookId: string;
      readonly secret: NewWebhookSecret;
      /** How long the secrets before it are still used, ms. */
      readonly overlapMs: number;
    }
  | { readonly do: 'delete_webhook'; readonly webhookId: string };

export type WebhookCommand = Extract<DirectoryCommand, { readonly webhookId: string }>;

export type ApplicationCommand = Extract<DirectoryCommand, { readonly id: string }>;
