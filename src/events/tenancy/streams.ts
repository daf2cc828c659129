/**
 * The stream of a tenant and all its applications. Its id is random and says nothing, so the name carries it as it is.
 * One stream: what holds for the tenant as a whole is decided at one revision.
 */
export function tenantStream(tenantId: string): string {
  return `tenant-${tenantId}`;
}
