import { chmodSync, existsSync, type Stats, statfsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '../../compose/config/config.js';
import { faultOfContent, faultOfDataDirectory } from '../../compose/embedded/data-directory.js';
import { rootKeyOpens } from '../../compose/embedded/root-key-opens.js';
import { faultOfPath } from '../../compose/root-key/path-fault.js';
import { rootKeyPlaceOf } from '../../compose/root-key/root-key-place.js';
import { wrongRootKeyText } from '../../keys/root-keys.js';
import { type Finding, ok, problem } from '../../queries/findings/finding.js';
import { Failure } from '../failure.js';
import { rootKeysOf } from '../root-keys-of.js';
import { unsearchableDirectory, unsearchableText } from '../unsearchable-directory.js';

const freeBytesMin = 1024 ** 3;
/** The mode bits with which other users can write to a directory. */
const writableByOthers = 0o022;

/**
 * Checks the configured files and directories. If `fix` is true, corrects the modes of the files and directories owned
 * by this user.
 */
export async function lookAtPlaces(config: Config, fix: boolean): Promise<readonly Finding[]> {
  const { file, nextFile } = rootKeyPlaceOf(config);
  const fixed = file !== null && fix ? fixedMode('root key', file, 0o177, 0o600) : [];
  const dataDir = config.settings.profile === 'embedded' ? config.settings.data : null;
  const directory = dataDir === null ? [] : dataDirectory(dataDir, fix);
  const isSound = !directory.some(({ check, state }) => check === 'data directory' && state === 'problem');
  const rotation =
    nextFile !== null && existsSync(nextFile)
      ? [
          problem(
            'rotation',
            `${nextFile} exists: a key rotation has not finished`,
            'Run `strongroom keys rotate --all`.',
          ),
        ]
      : [];
  return [...fixed, await rootKey(config, isSound ? dataDir : null), ...rotation, ...directory];
}

/**
 * Checks that the root key can be read. If `dataDir` is not null, also checks that the root key opens the keys in this
 * directory. A running service has its own copy of the root key, so without this check a wrong file would be noticed
 * only at the next start.
 */
async function rootKey(config: Config, dataDir: string | null): Promise<Finding> {
  try {
    const keys = await rootKeysOf(config);
    const opens = dataDir === null ? null : rootKeyOpens(dataDir, keys);
    for (const key of keys) key.fill(0);
    if (opens === null) return ok('root key', 'can be read');
    if (opens) return ok('root key', 'can be read, and opens the keys of the vault');
    return problem(
      'root key',
      wrongRootKeyText('keys.db'),
      'If the service is running, do not stop it yet: it still has the right root key in memory, but without a copy of ' +
        'that key it cannot start again.',
    );
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { file } = rootKeyPlaceOf(config);
    return problem('root key', error.message, file === null ? undefined : adviceToFix(file, 0o177));
  }
}

/** Checks that the data directory exists and can contain a vault, who can write to it, and how much space is free. */
function dataDirectory(dataDir: string, fix: boolean): readonly Finding[] {
  const full = resolve(dataDir);
  const unsearchable = unsearchableDirectory(dataDir);
  if (unsearchable !== null) return [problem('data directory', unsearchableText(full, unsearchable))];
  if (!existsSync(dataDir)) {
    return [
      problem('data directory', `${full} does not exist`, 'Name another one with --data, or run `strongroom init`.'),
    ];
  }
  const content = faultOfContent(dataDir);
  if (content !== null) return [problem('data directory', content)];
  const fixed = fix ? fixedMode('data directory', dataDir, writableByOthers, 0o700) : [];
  return [...fixed, ...writersOf(dataDir), freeSpace(full)];
}

/**
 * Checks that no other user can write to the data directory or replace its files. The texts are those with which the
 * vault refuses to open the directory. Reports a fault that several files share only once.
 */
function writersOf(dataDir: string): readonly Finding[] {
  const found: Finding[] = [];
  const seen = new Set<string>();
  const directory = statSync(dataDir);
  const fault = (directory.mode & writableByOthers) === 0 ? null : faultOfDataDirectory(directory, dataDir);
  if (fault !== null) {
    found.push(problem('data directory', fault, adviceToFix(dataDir, writableByOthers)));
    // The files in the directory share this fault.
    seen.add(faultOfPath(join(dataDir, 'lock')) ?? '');
  }
  const files = ['keys.db', 'vault.db', 'journal.db'].map((file) => ({ path: join(dataDir, file), what: '' }));
  for (const { path, what } of [{ path: dataDir, what: 'the data directory ' }, ...files]) {
    const faultOfThis = faultOfPath(path);
    if (faultOfThis === null || seen.has(faultOfThis)) continue;
    seen.add(faultOfThis);
    found.push(problem('data directory', `${what}${path} ${faultOfThis}`));
  }
  return found;
}

/** Returns advice to correct the mode with `--fix`. Returns undefined if `--fix` does not change this mode. */
function adviceToFix(path: string, bad: number): string | undefined {
  return isFixable(lookUp(path), bad) ? '`strongroom doctor --fix` corrects the mode.' : undefined;
}

/**
 * Corrects the mode of a file or directory. `bad` is the mask of mode bits that must not be set. `good` is the new mode.
 * Never changes the mode of a file that belongs to another user, or of a mounted volume with a valid owner and mode:
 * such volumes often have modes with these bits.
 */
function fixedMode(check: string, path: string, bad: number, good: number): readonly Finding[] {
  const stats = lookUp(path);
  if (!isFixable(stats, bad)) return [];
  if (stats?.isDirectory() === true && faultOfDataDirectory(stats, path) === null) return [];
  chmodSync(path, good);
  return [{ check, state: 'fixed', says: `other users could access ${path}; its mode is now ${good.toString(8)}` }];
}

/** Returns true if this user owns the file or directory, and its mode has one of the bits in `bad`. */
function isFixable(stats: Stats | undefined, bad: number): boolean {
  return stats !== undefined && stats.uid === process.geteuid?.() && (stats.mode & bad) !== 0;
}

/** Returns undefined if the path does not exist or cannot be looked up. Other checks report that. */
function lookUp(path: string): Stats | undefined {
  return unsearchableDirectory(path) === null ? statSync(path, { throwIfNoEntry: false }) : undefined;
}

function freeSpace(dataDir: string): Finding {
  const { bavail, bsize } = statfsSync(dataDir);
  const free = bavail * bsize;
  const says = `${(free / 1024 ** 3).toFixed(1)} GiB are free in ${dataDir}`;
  return free >= freeBytesMin
    ? ok('disk', says)
    : problem('disk', says, 'Free some space: without it, writes are rejected.');
}
