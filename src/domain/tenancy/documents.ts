import type { Access, AccessRule } from '../access/access-rule.js';
import type { ApplicationType } from '../access/application-type.js';
import type { Permission } from '../access/permission.js';
import type { TenantSettings } from '../access/tenant-settings.js';
import type { Stamps } from './stamps.js';
import type { WebhookDocument } from './webhook.js';

/** A tenant, as sealed in its latest event. */
export type TenantDocument = Stamps & {
  readonly name: string;
  readonly settings: TenantSettings;
  /** The tenant's webhooks, in order of creation. */
  readonly webhooks: readonly WebhookDocument[];
};

/** The stored record of an active API key. It contains a hash of the key, but not the key itself. */
export type ApiKeyDocument = {
  readonly id: string;
  /** The SHA-256 hash of the key in hex. The key has 256 random bits. */
  readonly hash: string;
  readonly created_by: string;
  /** The time at which the key was created, in milliseconds since the epoch. */
  readonly created_at: number;
};

/** An application's access in its stored form: either permissions or rules. */
export type AccessDocument =
  | { readonly kind: 'permissions'; readonly permissions: readonly Permission[] }
  | { readonly kind: 'rules'; readonly rules: readonly AccessRule[] };

/** An application, as sealed in its latest event. */
export type ApplicationDocument = Stamps & {
  readonly name: string;
  readonly type: ApplicationType;
  readonly access: AccessDocument;
  /**
   * The time from which the application's keys are rejected, in milliseconds since the epoch. Null if the application
   * never expires.
   */
  readonly expires_at: number | null;
  readonly keys: readonly ApiKeyDocument[];
};

/** Converts an application's access to its stored form. */
export function documentOf(access: Access): AccessDocument {
  return access.kind === 'rules' ? access : { kind: 'permissions', permissions: [...access.permissions] };
}

/** Converts stored access to the form that access decisions use. */
export function accessOf(access: AccessDocument): Access {
  return access.kind === 'rules' ? access : { kind: 'permissions', permissions: new Set(access.permissions) };
}
