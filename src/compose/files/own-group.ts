import type { Stats } from 'node:fs';

/**
 * The root user's group. Some platforms run every container in this group, so it never counts as the service's own
 * group.
 */
const rootGroup = 0;

/** Returns the group of this process, or null if it is root's group. */
export function ownGroup(): number | null {
  const group = process.getegid?.() ?? rootGroup;
  return group === rootGroup ? null : group;
}

/** Returns true if the file belongs to the group of this process. Supplementary groups do not count. */
export function isOfOwnGroup({ gid }: Pick<Stats, 'gid'>): boolean {
  return gid === ownGroup();
}

/**
 * Returns true if users other than the owner can write to the file or directory. The group of this process does not
 * count. Neither does root's group, because it has no other members.
 */
export function othersWrite({ gid, mode }: Pick<Stats, 'gid' | 'mode'>): boolean {
  const groupWrites = (mode & 0o020) !== 0 && !isOfOwnGroup({ gid }) && gid !== rootGroup;
  return groupWrites || (mode & 0o002) !== 0;
}

/**
 * Returns true if root owns the file and this process does not run as root. A mounted Secret or volume contains such
 * files.
 */
export function isRoots({ uid }: Pick<Stats, 'uid'>): boolean {
  return uid === 0 && process.geteuid?.() !== 0;
}
