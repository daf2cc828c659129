import type { Stats } from 'node:fs';

/** The group of the root user; on some platforms every container runs in it, so it is never taken for a service's own. */
const rootGroup = 0;

/** Returns the group that this process runs in, or null if it is the group of root, which is no service's own. */
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
