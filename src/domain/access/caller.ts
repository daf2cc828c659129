import type { Access } from './access-rule.js';
import type { ApplicationType } from './application-type.js';
import type { TenantSettings } from './tenant-settings.js';

/** The application whose key came with a request. */
export type Caller = {
  readonly tenantId: string;
  readonly applicationId: string;
  readonly keyId: string;
  readonly applicationType: ApplicationType;
  readonly access: Access;
  /** The settings of its tenant. */
  readonly tenantSettings: TenantSettings;
  /** The address of the request, for the access log only; absent for the command line. */
  readonly sourceAddress?: string;
};
