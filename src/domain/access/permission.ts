import { type ApplicationType, applicationTypes } from './application-type.js';

/** The permissions on tokens. `token:use` reveals data. See docs/contract.md, "Permissions". */
export const tokenPermissions = [
  'token:create',
  'token:read',
  'token:update',
  'token:delete',
  'token:search',
  'token:use',
] as const;

/** The permissions on everything except tokens. See docs/contract.md, "Application types". */
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
  'webhook:create',
  'webhook:read',
  'webhook:update',
  'webhook:delete',
] as const;

export type TokenPermission = (typeof tokenPermissions)[number];

export type ManagementPermission = (typeof managementPermissions)[number];

export type Permission = TokenPermission | ManagementPermission;

/**
 * The permissions that applications of each type may have, whether as plain permissions or in access rules. See
 * docs/contract.md, "Application types".
 */
export const permissionsOfType: {
  readonly private: readonly TokenPermission[];
  readonly public: readonly TokenPermission[];
  readonly management: readonly ManagementPermission[];
} & Readonly<Record<ApplicationType, readonly Permission[]>> = {
  private: tokenPermissions,
  public: ['token:create', 'token:update'],
  management: managementPermissions,
};

const descriptions: Readonly<Record<Permission, string>> = {
  'token:create': 'Create tokens, including with tokenize',
  'token:read': 'Get and list tokens, masked unless an access rule says otherwise',
  'token:update': 'Update tokens and purge their cvc',
  'token:delete': 'Delete tokens and destroy their keys',
  'token:search': 'Search tokens',
  'token:use': 'Reveal tokens with detokenize',
  'application:create': 'Create applications and issue keys',
  'application:read': 'Read applications and list their keys, without the keys themselves',
  'application:update': 'Change the name, permissions, rules and expiry of applications',
  'application:delete': 'Delete applications and revoke keys',
  'tenant:read': 'Read the tenant and its settings',
  'tenant:update': 'Change the name and settings of the tenant',
  'tenant:delete': 'Delete the tenant and destroy all its keys',
  'log:read': 'Read the access log and the history of tokens',
  'report:read': 'Read the usage report',
  'webhook:create': 'Create webhooks',
  'webhook:read': 'Read webhooks and their deliveries without the secrets',
  'webhook:update': 'Change and test webhooks and rotate their secrets',
  'webhook:delete': 'Delete webhooks',
};

/** A permission, and the application types that may have it. */
type PermissionEntry = {
  readonly type: Permission;
  readonly description: string;
  readonly application_types: readonly ApplicationType[];
};

/** All permissions, as the API lists them (docs/contract.md, "Applications"). */
export const permissionCatalogue: readonly PermissionEntry[] = [...tokenPermissions, ...managementPermissions].map(
  (permission) => ({
    type: permission,
    description: descriptions[permission],
    application_types: applicationTypes.filter((type) => {
      const allowed: readonly Permission[] = permissionsOfType[type];
      return allowed.includes(permission);
    }),
  }),
);
