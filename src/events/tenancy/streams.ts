/**
 * Returns the name of the stream for a tenant and all its applications. The tenant's id is random and reveals nothing,
 * so the name contains it unchanged. Because there is only one stream, every decision about a tenant is made at a
 * single revision.
 */
export function tenantStream(tenantId: string): string {
  return `tenant-${tenantId}`;
}
