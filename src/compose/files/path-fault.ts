import { lstatSync, readlinkSync, type Stats } from 'node:fs';
import { isAbsolute, join, resolve, sep } from 'node:path';
import { othersWrite } from './own-group.js';
import { runAsOwner } from './run-as-owner.js';
import { shellWord } from './shell-word.js';

const sticky = 0o1000;
/** The kernel's limit on the number of symbolic links in a path. Opening a path with more links fails. */
const linksMax = 40;

/**
 * Explains how other users can replace the file at a path, and how to prevent that. The text continues a sentence that
 * begins with the file's name. Returns null if other users cannot replace the file. Threat: a user who can write to a
 * directory on the path replaces our directory, file or link.
 *
 * Checks each directory along the path and along the targets of its symbolic links. Stops at the first part that does
 * not exist or that this process cannot access. Does not detect access control lists.
 */
export function faultOfPath(path: string): string | null {
  const names = namesIn(resolve(path));
  let directory: string = sep;
  let links = 0;
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    const entry = join(directory, name);
    const stats = statsOf(entry);
    const fault = faultOfDirectory(directory, entry, stats);
    if (fault !== null || stats === null) return fault;
    if (stats.isSymbolicLink()) {
      links += 1;
      if (links > linksMax) return null;
      const target = readlinkSync(entry);
      names.unshift(...namesIn(target));
      if (isAbsolute(target)) directory = sep;
    } else {
      directory = entry;
    }
  }
  return null;
}

function namesIn(path: string): string[] {
  return path.split(sep).filter((name) => name !== '' && name !== '.');
}

function statsOf(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

/**
 * Explains how other users can replace a directory entry. Returns null if they cannot. In a sticky directory, only
 * root, the entry's owner and the directory's owner can replace the entry.
 */
function faultOfDirectory(directory: string, entry: string, stats: Stats | null): string | null {
  const own = statsOf(directory);
  if (own === null || !own.isDirectory()) return null;
  if (!isTrusted(own)) return foreign(directory, own);
  if (!othersWrite(own)) return null;
  if ((own.mode & sticky) === 0) {
    return (
      `is reached through ${directory}, to which other users can write. Check that its files are yours, then run: ` +
      `chmod go-w ${shellWord(directory)}`
    );
  }
  return stats === null || isTrusted(stats) ? null : foreign(entry, stats);
}

function foreign(path: string, { uid }: Stats): string {
  return (
    `is reached through ${path}, which belongs to another user. ${runAsOwner(uid)} Otherwise, check that its ` +
    'files are yours, then make root or the user that runs Strongroom its owner (chown), or choose another place.'
  );
}

/** Returns true if root or the user of this process owns the file. */
export function isTrusted({ uid }: Pick<Stats, 'uid'>): boolean {
  return uid === 0 || uid === process.geteuid?.();
}
