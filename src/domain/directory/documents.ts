import type { AccessRule } from '../access/access-rule.js';
import type { ApplicationType } from '../access/application-type.js';
import type { Permission } from '../access/permission.js';

/** A tenant, as its newest event seals it. Setting values are "true" or "false" (contract, section 10). */
export type TenantDocument = {
  readonly name: string;
  readonly settings: { readonly deduplicate_tokens: 'true' | 'false'; readonly keep_superseded_data: 'true' | 'false' };
};

/** One API key of an application: never the key itself. */
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
export type ApplicationDocument = {
  readonly name: string;
  readonly type: ApplicationType;
  readonly access: AccessDocument;
  /** Milliseconds since the epoch; from then on its keys are refused. */
  readonly expires_at: number | null;
  readonly keys: readonly ApiKeyDocument[];
};
