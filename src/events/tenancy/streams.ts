/**
 * The stream of a tenant and all its applications. The tenant's id is random and reveals nothing, so the name contains
 * it unchanged. With one stream, everything about a tenant is decided at one revision.
 */
export function tenantStream(tenantId: string): string {
  return `tenant-${tenantId}`;
}
