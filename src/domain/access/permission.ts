import type { ApplicationType } from './application-type.js';

/** What may be done with tokens. `token:use` is what reveals. Contract, sections 4 and 10. */
export const tokenPermissions = [
  'token:create',
  'token:read',
  'token:update',
  'token:delete',
  'token:search',
  'token:use',
] as const;

/** What may be done with everything else. Contract, section 10. */
export const managementPermissions = [
  'application:create',
  'application:read',
  'application:update',
  'application:delete',
  'tenant:read',
  'tenant:update',
  'tenant:delete',
  'log:read',
  'report:read',
] as const;

export type TokenPermission = (typeof tokenPermissions)[number];

export type ManagementPermission = (typeof managementPermissions)[number];

export type Permission = TokenPermission | ManagementPermission;

/** Which permissions an application of each type may hold, in plain lists and in rules alike. Contract, section 10. */
export const permissionsOfType: {
  readonly private: readonly TokenPermission[];
  readonly public: readonly TokenPermission[];
  readonly management: readonly ManagementPermission[];
} & Readonly<Record<ApplicationType, readonly Permission[]>> = {
  private: tokenPermissions,
  public: ['token:create', 'token:update'],
  management: managementPermissions,
};
