import type { AccessFields } from '../access/parse-access.js';
import type { TenantSettings } from '../access/tenant-settings.js';
import type { Json } from '../json.js';
import type { ApplicationSpec } from './application-spec.js';

/** A key that was made and not yet shown: its id and the hash that is stored. */
export type NewKey = { readonly id: string; readonly hash: string };

/** What somebody wants of a tenant or of one of its applications. */
export type DirectoryCommand =
  | { readonly do: 'create_tenant'; readonly name: string }
  | { readonly do: 'update_tenant'; readonly name: string; readonly settings: Partial<TenantSettings> }
  /** `name` is repeated by who deletes, so that it is no slip. */
  | { readonly do: 'delete_tenant'; readonly name: string }
  | { readonly do: 'create_application'; readonly id: string; readonly spec: ApplicationSpec; readonly key: NewKey }
  | {
      readonly do: 'update_application';
      readonly id: string;
      readonly name: string;
      /** As the request has them: which are allowed depends on the type that is stored. */
      readonly access: AccessFields;
      /** The type as the request repeats it; undefined or null: not at all. */
      readonly type: Json | undefined;
      /** Undefined: as it is. Null: never. */
      readonly expiresAt: number | null | undefined;
    }
  | { readonly do: 'delete_application'; readonly id: string }
  | { readonly do: 'issue_key'; readonly id: string; readonly key: NewKey }
  | { readonly do: 'revoke_key'; readonly id: string; readonly keyId: string };

export type ApplicationCommand = Extract<DirectoryCommand, { readonly id: string }>;
