import type { Stats } from 'node:fs';

/**
 * The group of the root user. Some platforms run every container in this group, so it never counts as the service's own
 * group.
 */
const rootGroup = 0;

/** Returns this process's group, or null if it is root's group. */
export function ownGroup(): number | null {
  const group = process.getegid?.() ?? rootGroup;
  return group === rootGroup ? null : group;
}

/** Returns true if the file belongs to this process's own group. Supplementary groups do not count. */
export function isOfOwnGroup({ gid }: Pick<Stats, 'gid'>): boolean {
  return gid === ownGroup();
}

/**
 * Returns true if root owns the file and this process does not run as root. This is the case for a mounted Secret or
 * volume.
 */
export function isRoots({ uid }: Pick<Stats, 'uid'>): boolean {
  return uid === 0 && process.geteuid?.() !== 0;
}
