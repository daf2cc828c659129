import type { Access } from './access-rule.js';
import type { ApplicationType } from './application-type.js';
import type { TenantSettings } from './tenant-settings.js';
import type { Visitor } from './visitor.js';

/** The application that a request's key belongs to. */
export type Caller = {
  readonly tenantId: string;
  readonly applicationId: string;
  readonly keyId: string;
  readonly applicationType: ApplicationType;
  readonly access: Access;
  /** The settings of the application's tenant. */
  readonly tenantSettings: TenantSettings;
  /** The request's source address, used only for the access log. Absent for a CLI command. */
  readonly sourceAddress?: string;
  /** The person and the reason of the request, used only for the access log and for history. Absent if it has neither. */
  readonly visitor?: Visitor;
};
