import type { Stats } from 'node:fs';

/**
 * The group of the root user. On some platforms every container runs in it, so it never counts as the service's own
 * group.
 */
const rootGroup = 0;

/**
 * Returns the group of this process, or null if it is the group of root, which never counts as a service's own group.
 */
export function ownGroup(): number | null {
  const group = process.getegid?.() ?? rootGroup;
  return group === rootGroup ? null : group;
}

/** Returns whether the file belongs to the group that this process runs in. Supplementary groups do not count. */
export function isOfOwnGroup({ gid }: Pick<Stats, 'gid'>): boolean {
  return gid === ownGroup();
}

/** Returns whether root owns the file and this process does not run as root, as with a mounted Secret or volume. */
export function isRoots({ uid }: Pick<Stats, 'uid'>): boolean {
  return uid === 0 && process.geteuid?.() !== 0;
}
