import type { Access } from './access-rule.js';
import type { ApplicationType } from './application-type.js';
import type { TenantSettings } from './tenant-settings.js';
import type { Visitor } from './visitor.js';

/** The application that a request's key belongs to, or that a person's groups open at the console. */
export type Caller = {
  readonly tenantId: string;
  readonly applicationId: string;
  /** Null if no key was used: the groups of a person open the application. */
  readonly keyId: string | null;
  readonly applicationType: ApplicationType;
  readonly access: Access;
  /** The settings of the application's tenant. */
  readonly tenantSettings: TenantSettings;
  /** The request's source address, used only for the access log. Absent for a CLI command. */
  readonly sourceAddress?: string;
  /** The person and the reason of the request, used only for the access log and for history. Absent if it has neither. */
  readonly visitor?: Visitor;
};
