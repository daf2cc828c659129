import { chmodSync, existsSync, type Stats, statfsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '../../compose/config/config.js';
import { faultOfDataDirectory } from '../../compose/embedded/data-directory.js';
import { isRoots } from '../../compose/root-key/own-group.js';
import { faultOfPath } from '../../compose/root-key/path-fault.js';
import { rootKeyPlaceOf } from '../../compose/root-key/root-key-place.js';
import { type Finding, ok, problem } from '../../queries/findings/finding.js';
import { Failure } from '../failure.js';
import { rootKeysOf } from '../root-keys-of.js';
import { unsearchableDirectory, unsearchableText } from '../unsearchable-directory.js';

const freeBytesMin = 1024 ** 3;

/**
 * Checks the configured files and directories. If `fix` is true, corrects the modes of the files and directories owned
 * by this user.
 */
export async function lookAtPlaces(config: Config, fix: boolean): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const { file, nextFile } = rootKeyPlaceOf(config);
  if (file !== null) findings.push(...modeOf('root key', file, 0o177, 0o600, fix));
  findings.push(await rootKey(config));
  if (nextFile !== null && existsSync(nextFile)) {
    findings.push(
      problem('rotation', `${nextFile} exists: a key rotation has not finished`, 'Run `strongroom keys rotate --all`.'),
    );
  }
  if (config.settings.profile !== 'embedded') return findings;
  const dataDir = resolve(config.settings.data);
  const unsearchable = unsearchableDirectory(dataDir);
  if (unsearchable !== null) {
    return [...findings, problem('data directory', unsearchableText(dataDir, unsearchable), 'See the message.')];
  }
  if (!existsSync(dataDir)) {
    return [
      ...findings,
      problem('data directory', `${dataDir} does not exist`, 'Name another one with --data, or run `strongroom init`.'),
    ];
  }
  findings.push(...modeOf('data directory', dataDir, 0o022, 0o700, fix));
  // Files that share a directory share its fault, which is reported once.
  const faults = new Set<string>();
  for (const path of [dataDir, ...['keys.db', 'vault.db', 'journal.db'].map((file) => join(dataDir, file))]) {
    const fault = faultOfPath(path);
    if (fault === null || faults.has(fault)) continue;
    faults.add(fault);
    findings.push(problem('data directory', `${path} ${fault}`, 'See the message.'));
  }
  return [...findings, freeSpace(dataDir)];
}

async function rootKey(config: Config): Promise<Finding> {
  try {
    for (const key of await rootKeysOf(config)) key.fill(0);
    return ok('root key', 'can be read');
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return problem('root key', error.message, 'See the message.');
  }
}

/**
 * Checks the mode of a file or directory. `bad` is the mask of mode bits that must not be set. `good` is the mode set
 * by a fix. Never changes the mode of a file that belongs to another user.
 */
function modeOf(check: string, path: string, bad: number, good: number, fix: boolean): readonly Finding[] {
  // If the path cannot be looked up, reading the root key or the data directory reports that.
  const stats = unsearchableDirectory(path) === null ? statSync(path, { throwIfNoEntry: false }) : undefined;
  if (stats === undefined || (stats.mode & bad) === 0 || isMounted(stats, path)) return [];
  const mode = good.toString(8);
  const says = `other users can access ${path}`;
  if (!fix || stats.uid !== process.geteuid?.()) {
    return [problem(check, says, `If it is yours, run chmod ${mode} ${path}, or run this command with --fix.`)];
  }
  chmodSync(path, good);
  return [{ check, state: 'fixed', says: `${says}; its mode is now ${mode}` }];
}

/**
 * Returns true if the path is a mounted file that root owns, or a mounted volume with a valid owner and mode. Such
 * files and volumes often have modes that this check does not expect. The vault checks their modes when it reads the
 * root key and opens the data directory.
 */
function isMounted(stats: Stats, path: string): boolean {
  return stats.isDirectory() ? faultOfDataDirectory(stats, path) === null : isRoots(stats);
}

function freeSpace(dataDir: string): Finding {
  const { bavail, bsize } = statfsSync(dataDir);
  const free = bavail * bsize;
  const says = `${(free / 1024 ** 3).toFixed(1)} GiB are free in ${dataDir}`;
  return free >= freeBytesMin
    ? ok('disk', says)
    : problem('disk', says, 'Free some space: without it, writes are rejected.');
}
