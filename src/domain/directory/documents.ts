import type { Access, AccessRule } from '../access/access-rule.js';
import type { ApplicationType } from '../access/application-type.js';
import type { Permission } from '../access/permission.js';

/** Who made a tenant or an application and who changed it last: an application id or `operator`; times in ms. */
export type Stamps = {
  readonly created_by: string;
  readonly created_at: number;
  readonly modified_by: string | null;
  readonly modified_at: number | null;
};

/** Switches of a tenant; each value is "true" or "false" (docs/contract.md, "Tenants"). */
export type TenantSettings = {
  readonly deduplicate_tokens: 'true' | 'false';
  readonly keep_superseded_data: 'true' | 'false';
  readonly show_fingerprints: 'true' | 'false';
};

/** A tenant, as its newest event seals it. */
export type TenantDocument = Stamps & { readonly name: string; readonly settings: TenantSettings };

/** One living API key of an application: never the key itself. */
export type ApiKeyDocument = {
  readonly id: string;
  /** Hex SHA-256 of the key, which carries 256 random bits. */
  readonly hash: string;
  readonly created_by: string;
  /** Milliseconds since the epoch. */
  readonly created_at: number;
};

/** Permissions or rules, never both. */
export type AccessDocument =
  | { readonly kind: 'permissions'; readonly permissions: readonly Permission[] }
  | { readonly kind: 'rules'; readonly rules: readonly AccessRule[] };

/** An application, as its newest event seals it. */
export type ApplicationDocument = Stamps & {
  readonly name: string;
  readonly type: ApplicationType;
  readonly access: AccessDocument;
  /** Milliseconds since the epoch; from then on its keys are refused. */
  readonly expires_at: number | null;
  readonly keys: readonly ApiKeyDocument[];
};

/** What an application may do, as it is stored. */
export function documentOf(access: Access): AccessDocument {
  return access.kind === 'rules' ? access : { kind: 'permissions', permissions: [...access.permissions] };
}

/** And back, as decisions on tokens ask for it. */
export function accessOf(access: AccessDocument): Access {
  return access.kind === 'rules' ? access : { kind: 'permissions', permissions: new Set(access.permissions) };
}
