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
  /** Of its tenant. */
  readonly tenantSettings: TenantSettings;
  /** Where the request came from; absent: the command line. For the access log alone. */
  readonly sourceAddress?: string;
};
