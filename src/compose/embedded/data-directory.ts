import { constants, existsSync, type Stats, statSync } from 'node:fs';
import { access, mkdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fsyncPathSync } from '../../adapters/shared/fsync-path-sync.js';
import { monthFile, monthsOnDisk } from '../../adapters/sqlite/access-log/month-files.js';
import { dailyCountsFile } from '../../adapters/sqlite/daily-counts.js';
import { lockData } from '../../adapters/sqlite/data-lock.js';
import { StoreBroken } from '../../adapters/sqlite/database/database-error.js';
import { expectNothingLost, hasContent } from '../../adapters/sqlite/writer/prepare-stores.js';
import { keysFile } from '../../ports/backup.js';
import { isOfOwnGroup, isRoots } from '../files/own-group.js';
import { faultOfPath, isTrusted } from '../files/path-fault.js';
import { realPath } from '../files/real-path.js';
import { shellWord } from '../files/shell-word.js';
import { databases, restoringName } from '../root-key/holds-vault.js';
import { controlSocketPath, serviceSurelyListens } from './control-socket.js';

const setgid = 0o2000;

/**
 * Locks a data directory for this process. If the directory does not exist, creates it so that only its owner can
 * access it. If `isDev` is true, the data may be in a directory of another user, such as a project that is mounted into
 * a container.
 *
 * Throws StoreBroken in these cases:
 * - The directory is a backup, or contains an unfinished restore.
 * - This process cannot write to the directory.
 * - Other users can write to the directory or replace it.
 * - Other users can read or replace files in the directory.
 * - Another process has locked the directory, or a service answers on its control socket.
 * - A database in the directory is a symbolic link to a directory that another process has locked.
 *
 * Calls `onLost` if the lock file is removed or replaced before the lock is released. The process must then exit.
 */
export async function takeDataDirectory(
  dataDir: string,
  onLost: (error: StoreBroken) => void,
  isDev = false,
): Promise<{ release(): void }> {
  const before = faultOfContent(dataDir);
  if (before !== null) throw new StoreBroken(before);
  const lock = await lockDataDirectory(dataDir, onLost, isDev);
  // Checks the content again. A restore may have begun after the first check.
  const after = faultOfContent(dataDir);
  if (after === null) return lock;
  lock.release();
  throw new StoreBroken(after);
}

/** Does the same as `takeDataDirectory`, regardless of what the directory contains. */
export async function lockDataDirectory(
  dataDir: string,
  onLost: (error: StoreBroken) => void,
  isDev = false,
): Promise<{ release(): void }> {
  if (!isDev) expectNotReplaceable(dataDir, 'the data directory ');
  await createDirectory(dataDir);
  const fault = faultOfDataDirectory(await stat(dataDir), dataDir);
  if (fault !== null) throw new StoreBroken(fault);
  const links = linkedDirectories(dataDir);
  await expectUsableFiles(dataDir, [dataDir, ...links.keys()], isDev);
  return lockDirectories(dataDir, links, onLost);
}

/** Creates the directory if it does not exist. Throws StoreBroken if this process cannot write to it. */
async function createDirectory(dataDir: string): Promise<void> {
  try {
    const first = await mkdir(dataDir, { recursive: true, mode: 0o700 }).catch(async (error: unknown) => {
      // On a read-only file system, `mkdir` reports that a directory is missing. This call to `access` throws the
      // actual error instead.
      await access(existingParent(dataDir), constants.W_OK);
      throw error;
    });
    if (first !== undefined) fsyncNew(first, dataDir);
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const missingIn = existsSync(dataDir) ? null : existingParent(dataDir);
    throw new StoreBroken(`the data directory ${dataDir} cannot be ${reasonOf(error, missingIn)}`);
  }
}

/**
 * Throws StoreBroken if this process cannot write to a file that it needs, or if other users can read or replace it.
 * `locked` are the directories that are about to be locked.
 */
async function expectUsableFiles(dataDir: string, locked: readonly string[], isDev: boolean): Promise<void> {
  const written = [
    ...locked.map((directory) => join(directory, 'lock')),
    ...databases.flatMap((file) => filesOf(join(dataDir, file))),
  ];
  for (const path of [...written, join(dataDir, dailyCountsFile)]) await expectNoDirectory(path);
  for (const path of written) await expectWritable(path);
  const paths = [...written, ...recordFiles(dataDir).flatMap((file) => filesOf(join(dataDir, file)))];
  // Checks the paths again. The directory may be new, and another user may have created a link in it after the first
  // check.
  if (!isDev) for (const path of paths) expectNotReplaceable(path, '');
  for (const path of paths) await expectPrivate(path);
}

/** Locks the directory and those that its databases link to. Throws StoreBroken if another process uses one of them. */
async function lockDirectories(
  dataDir: string,
  links: ReadonlyMap<string, string>,
  onLost: (error: StoreBroken) => void,
): Promise<{ release(): void }> {
  const locks: { release(): void }[] = [];
  const release = () => {
    for (const lock of locks) lock.release();
  };
  try {
    for (const directory of [dataDir, ...links.keys()]) {
      const lock = lockData(directory, onLost);
      if (lock === null) throw new StoreBroken(inUse(dataDir, directory, links.get(directory)));
      locks.push(lock);
    }
    // A service may be running although the lock is free: its lock file may have been removed.
    const socketPath = controlSocketPath(dataDir);
    if (socketPath !== null && (await serviceSurelyListens(socketPath))) throw new StoreBroken(inUse(dataDir, dataDir));
  } catch (error) {
    release();
    throw error;
  }
  return { release };
}

/**
 * Returns the other directories to which the databases in the directory are symbolic links, each with such a link.
 * Threat: an operator copies a data directory, and the copy contains a link to the original's `keys.db`. If only the
 * data directory were locked, both could run, and a token that is deleted in the copy could no longer be read in the
 * original.
 */
function linkedDirectories(dataDir: string): ReadonlyMap<string, string> {
  const links = databases.map((file) => join(dataDir, file)).map((path) => [dirname(realPath(path)), path] as const);
  return new Map(links.filter(([directory]) => directory !== realPath(dataDir)));
}

/**
 * Returns a message that says how to proceed if another process uses the directory. `link` is the link in the data
 * directory that leads there, if it is not the data directory itself.
 */
function inUse(dataDir: string, directory: string, link?: string): string {
  return link === undefined
    ? `another Strongroom process uses ${dataDir}. Stop it first, or choose another directory with --data.`
    : `another Strongroom process uses ${directory}, to which ${link} links. Stop it first. If ${dataDir} is a copy, ` +
        'then copy it again with `cp -aL`.';
}

/**
 * Flushes the names of new directories to disk: `first` and the directories below it, down to `last`. SQLite flushes
 * only the names of its files. Without this, a power failure could remove a new data directory with acknowledged data.
 */
function fsyncNew(first: string, last: string): void {
  const top = resolve(first);
  for (let made = resolve(last); made.length >= top.length; made = dirname(made)) fsyncPathSync(dirname(made));
}

/** Returns true if the directory contains a vault. Throws StoreBroken if files of the vault were lost. */
export function containsVault(dataDir: string): boolean {
  expectNothingLost(dataDir);
  return hasContent(join(dataDir, 'vault.db'));
}

/**
 * Returns a message that says how to proceed if the directory is a file or a backup, or contains an unfinished restore.
 * Otherwise returns null. A command that opened a backup as a data directory would report that its keys are missing. A
 * command that opened an unfinished restore would find only some of the files, or create a new vault next to them.
 */
export function faultOfContent(dataDir: string): string | null {
  if (existsSync(dataDir) && !statSync(dataDir).isDirectory()) {
    return `${dataDir} is not a directory. Choose another data directory with --data.`;
  }
  if (existsSync(join(dataDir, restoringName))) {
    return (
      `${dataDir} contains a restore that has not finished. If \`strongroom restore\` is still running, wait for it. ` +
      'If it was interrupted, run it again with the same --data.'
    );
  }
  if (!existsSync(join(dataDir, keysFile)) || existsSync(join(dataDir, 'keys.db'))) return null;
  return (
    `${dataDir} is a backup, not a data directory. \`strongroom restore\` checks a backup and restores it into a new ` +
    'directory, which you can then name with --data.'
  );
}

/**
 * Returns a description of what is wrong with a data directory's owner or mode and how to correct it. Returns null if
 * nothing is wrong. Threat: a user who can write to the directory replaces our files. The group may have write
 * permission only if it is this process's own group and the directory has the setgid bit. Container platforms provide
 * volumes in this form (`fsGroup`).
 */
export function faultOfDataDirectory(directory: Stats, dataDir: string): string | null {
  const groupsOwn = isGroupsOwn(directory);
  if (directory.uid !== process.geteuid?.() && !(isRoots(directory) && groupsOwn)) {
    return (
      `the data directory ${dataDir} belongs to another user. Run this as that user, or choose another directory ` +
      'with --data.'
    );
  }
  if ((directory.mode & (groupsOwn ? 0o002 : 0o022)) !== 0) {
    return groupsOwn
      ? `every user can write to the data directory ${dataDir}. Check that its files are yours, then run as root: ` +
          `chmod o-rwx ${shellWord(dataDir)}`
      : `users other than its owner can write to the data directory ${dataDir}. Check that its files are yours, ` +
          `then run: chmod 700 ${shellWord(dataDir)}`;
  }
  return null;
}

function existingParent(path: string): string {
  const parent = dirname(resolve(path));
  return existsSync(parent) ? parent : existingParent(parent);
}

function isGroupsOwn(directory: Stats): boolean {
  return (directory.mode & setgid) !== 0 && isOfOwnGroup(directory);
}

/**
 * Returns the names of the databases with records about the tokens: the daily counts and the months of the access log.
 */
function recordFiles(dataDir: string): readonly string[] {
  return [dailyCountsFile, ...monthsOnDisk(dataDir).map(monthFile)];
}

/**
 * Returns the paths of a database and of the files that SQLite stores next to it. If the database is a symbolic link,
 * SQLite stores those files next to the link's target.
 */
function filesOf(database: string): readonly string[] {
  const real = realPath(database);
  return [database, `${real}-wal`, `${real}-shm`];
}

function expectNotReplaceable(path: string, what: string): void {
  const fault = faultOfPath(path);
  if (fault !== null) throw new StoreBroken(`${what}${path} ${fault}`);
}

/**
 * Throws StoreBroken if another user can read or write the file. Either the owner and the mode of the file or the mode
 * of its directory must prevent this.
 */
async function expectPrivate(file: string): Promise<void> {
  const stats = await stat(file).catch(() => null);
  if (stats === null) return;
  const directory = await stat(dirname(realPath(file)));
  const groupEnters = !isOfOwnGroup(stats) && (directory.mode & 0o010) !== 0;
  const othersEnter = (directory.mode & 0o001) !== 0;
  if (othersEnter && !isTrusted(stats)) {
    throw new StoreBroken(
      `${file} belongs to another user, who can change it. Check that its content is yours, then run as root: ` +
        `chown ${process.geteuid?.() ?? 0} ${shellWord(file)}`,
    );
  }
  const open = stats.mode & ((groupEnters ? 0o060 : 0) | (othersEnter ? 0o006 : 0));
  if (open !== 0) {
    const can = (open & 0o044) !== 0 ? 'read' : 'write';
    throw new StoreBroken(`users other than its owner can ${can} ${file}. Run: chmod go-rwx ${shellWord(file)}`);
  }
}

/** Throws StoreBroken if a directory has the name of one of the files. */
async function expectNoDirectory(file: string): Promise<void> {
  const isDirectory = (await stat(file).catch(() => null))?.isDirectory() ?? false;
  if (isDirectory) throw new StoreBroken(`${file} is a directory, and Strongroom needs a file there. Move it away.`);
}

/**
 * Throws StoreBroken if the file exists but is not writable. SQLite would open such a file read-only, take no lock, and
 * report the problem only at the first write.
 */
async function expectWritable(file: string): Promise<void> {
  try {
    await access(file, constants.R_OK | constants.W_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw new StoreBroken(`${file} cannot be ${reasonOf(error)}`);
  }
}

/**
 * Returns the reason of the error, as the end of a sentence, and advice. `missingIn` is the directory in which a missing
 * directory would be created, or null if the file or directory exists.
 */
function reasonOf(error: unknown, missingIn: string | null = null): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EROFS') {
    return (
      'written: its file system is read-only. Mount a writable volume there, or choose another directory with ' +
      '--data.'
    );
  }
  if (code === 'EACCES' || code === 'EPERM') {
    const [done, place] = missingIn === null ? ['written', 'it'] : ['created', missingIn];
    return `${done}. Give this user write permission on ${place}, or choose another directory with --data.`;
  }
  if (code === 'ENOSPC') return 'created: the disk is full. Free some space and start again.';
  if (code === 'ENOTDIR' || code === 'EEXIST')
    return 'created: a file is in the way. Choose another directory with --data.';
  return `used (${code ?? 'unknown reason'}). Choose another directory with --data.`;
}
