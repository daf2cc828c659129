import type { Access } from './access-rule.js';
import type { ApplicationType } from './application-type.js';
import type { TenantSettings } from './tenant-settings.js';
import type { Visitor } from './visitor.js';

/**
 * The application that a request acts as. It owns the request's API key, or a person's groups give access to it at the
 * console.
 */
export type Caller = {
  readonly tenantId: string;
  readonly applicationId: string;
  /** Null if a person's groups give access and no key was used. */
  readonly keyId: string | null;
  readonly applicationType: ApplicationType;
  readonly access: Access;
  /** The settings of the application's tenant. */
  readonly tenantSettings: TenantSettings;
  /** The request's source address, used only for the access log. Absent for a CLI command. */
  readonly sourceAddress?: string;
  /** The request's person and reason, used only for the access log and history. Absent if it has neither. */
  readonly visitor?: Visitor;
};
