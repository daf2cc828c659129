/** Tenants and applications have random ids that say nothing, so their streams carry them as they are. */
export function tenantStream(tenantId: string): string {
  return `tenant-${tenantId}`;
}

export function applicationStream(applicationId: string): string {
  return `application-${applicationId}`;
}
