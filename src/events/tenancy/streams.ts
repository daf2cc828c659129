const prefix = 'tenant-';

/**
 * Returns the name of the stream for a tenant and all its applications. The tenant's id is random and reveals nothing,
 * so the name contains it unchanged. With a single stream, every decision about a tenant is based on a single revision.
 */
export function tenantStream(tenantId: string): string {
  return prefix + tenantId;
}

/** Returns true for the stream of a tenant. */
export function isTenantStream(stream: string): boolean {
  return stream.startsWith(prefix);
}
