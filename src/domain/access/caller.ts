import type { Access } from './access-rule.js';
import type { ApplicationType } from './application-type.js';
import type { TenantSettings } from './tenant-settings.js';
import type { Visitor } from './visitor.js';

/**
 * The application on whose behalf a request is made. Either the request uses one of the application's API keys, or a
 * person's groups give that person access to the application in the console.
 */
export type Caller = {
  readonly tenantId: string;
  readonly applicationId: string;
  /**
   * The id of the API key. Null if the caller has access through a person's groups, because such a request uses no API
   * key.
   */
  readonly keyId: string | null;
  readonly applicationType: ApplicationType;
  readonly access: Access;
  /** The settings of the application's tenant. */
  readonly tenantSettings: TenantSettings;
  /** The request's source address, used only for the access log. Absent for a CLI command. */
  readonly sourceAddress?: string;
  /**
   * The person and reason stated in the request, used only for the access log and the history. Absent if the request
   * states neither.
   */
  readonly visitor?: Visitor;
};
