import { chmodSync, existsSync, type Stats, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '../../compose/config/config.js';
import { faultOfContent, faultOfDataDirectory } from '../../compose/embedded/data-directory.js';
import { diskSpace } from '../../compose/embedded/disk-reserve.js';
import { rootKeyOpens } from '../../compose/embedded/root-key-opens.js';
import { faultOfPath } from '../../compose/files/path-fault.js';
import { databases, holdsVault } from '../../compose/root-key/holds-vault.js';
import { changeSettings, isReplaced, isSameFile } from '../../compose/root-key/next-root-key.js';
import { rootKeyPlaceOf } from '../../compose/root-key/root-key-place.js';
import { wrongRootKeyText } from '../../keys/root-keys.js';
import { type Finding, ok, problem } from '../../queries/findings/finding.js';
import { Failure } from '../failure.js';
import { isAbsent, rootKeysOf } from '../root-keys-of.js';
import { expiryOf, readTls } from '../tls-files.js';
import { unsearchableDirectory, unsearchableText } from '../unsearchable-directory.js';

/** How much of the disk should be free besides the reserve. */
const freeBytesMin = 1024 ** 3;
/** The mode bits with which other users can write to a directory. */
const writableByOthers = 0o022;
/** How long the TLS certificate should still be valid, in ms. */
const certificateMsMin = 7 * 24 * 3_600_000;
/** What to do if the file of the root key is lost or contains another key. */
const keepRunning =
  'If the service is running, do not stop it yet: it still has the right root key in memory, but without a copy of ' +
  'that key it cannot start again. If there is no copy, write the tokens to a file with `strongroom tokens export`.';

/**
 * A file or directory from the settings. `path` is null if the root key does not come from a file, and `fault` is null
 * if nothing is wrong. `fixable` is true if this user owns the file or directory and its mode is part of the fault.
 */
type Place = { readonly path: string | null; readonly fault: string | null; readonly fixable: boolean };

/**
 * Checks the configured files and directories. If `fix` is true, corrects the modes of the files and directories owned
 * by this user.
 */
export async function lookAtPlaces(config: Config, fix: boolean): Promise<readonly Finding[]> {
  const dataDir = config.settings.profile === 'embedded' ? config.settings.data : null;
  const directory = dataDir === null ? [] : await dataDirectory(dataDir, config.settings['disk.reserve_bytes'], fix);
  const isSound = !directory.some(({ check, state }) => check === 'data directory' && state === 'problem');
  return [...(await rootKey(config, isSound ? dataDir : null, fix)), ...certificate(config), ...directory];
}

/** Checks that the TLS certificate can be used, and that it does not expire soon. */
function certificate(config: Config): readonly Finding[] {
  const check = 'certificate';
  try {
    const files = readTls(config);
    if (files === null) return [];
    const expiry = expiryOf(files);
    const says = `${config.settings['tls.cert']} expires at ${new Date(expiry).toISOString()}`;
    if (expiry > Date.now() + certificateMsMin) return [ok(check, says)];
    return [problem(check, says, 'Renew it, then send SIGHUP to the service.')];
  } catch (error) {
    if (error instanceof Failure) return [problem(check, error.message)];
    throw error;
  }
}

/**
 * Checks that the root key can be read, and whether a rotation is unfinished. If `dataDir` is not null, also checks that
 * the root key opens the keys in this directory. A running service has its own copy of the root key, so without this
 * check a wrong file would be noticed only at the next start.
 */
async function rootKey(config: Config, dataDir: string | null, fix: boolean): Promise<readonly Finding[]> {
  const { place, fixed } = await corrected('root key', () => rootKeyPlace(config), 0o600, fix);
  if (place.fault !== null) {
    const isLost = dataDir !== null && holdsVault(dataDir) && place.path !== null && isAbsent(place.path);
    const found = isLost ? problem('root key', place.fault, keepRunning) : faultFound('root key', place.fault, place);
    return [...fixed, found, ...rotation(config, null, [])];
  }
  const opens = dataDir === null ? null : rootKeyOpens(dataDir, place.keys);
  const unfinished = rotation(config, dataDir, place.keys);
  for (const key of place.keys) key.fill(0);
  if (opens === null) return [...fixed, ok('root key', 'can be read'), ...unfinished];
  if (opens) return [...fixed, ok('root key', 'can be read, and opens the keys of the vault'), ...unfinished];
  return [...fixed, problem('root key', wrongRootKeyText('keys.db'), keepRunning), ...unfinished];
}

/**
 * Checks whether there is a file with the next root key. `keys` are the root key and the next one. Strongroom does not
 * replace a root key from a command, or in a file that belongs to root. After a rotation of such a key, the operator
 * must change the settings.
 */
function rotation(config: Config, dataDir: string | null, keys: readonly Buffer[]): readonly Finding[] {
  const { file, nextFile } = rootKeyPlaceOf(config);
  if (nextFile === null || !existsSync(nextFile)) return [];
  const unfinished = problem(
    'rotation',
    `${nextFile} exists: a key rotation has not finished`,
    'Run `strongroom keys rotate --all`.',
  );
  const [current, next] = keys;
  if (current === undefined || next === undefined) return [unfinished];
  if (file !== null && isReplaced(file) && !isSameFile(file, nextFile)) return [unfinished];
  if (current.equals(next)) {
    const says = `the root key is the one in ${nextFile}, so the rotation has finished`;
    return [problem('rotation', says, 'Remove next_root_key_file from the settings.')];
  }
  const opens = (key: Buffer) => (dataDir === null ? null : rootKeyOpens(dataDir, [key]));
  if (opens(current) === null) {
    const says = `${nextFile} exists: a key rotation has not finished, or the settings were not changed after it`;
    return [problem('rotation', says, 'Run `strongroom keys rotate --all`, which says what is left to do.')];
  }
  if (opens(current) === true || opens(next) !== true) return [unfinished];
  const says = `a key rotation has finished: all keys are under the root key in ${nextFile}`;
  return [problem('rotation', says, changeSettings)];
}

/** Reads the root key. The caller must zero each key. */
async function rootKeyPlace(config: Config): Promise<Place & { readonly keys: readonly Buffer[] }> {
  const { file } = rootKeyPlaceOf(config);
  try {
    return { path: file, fault: null, fixable: false, keys: await rootKeysOf(config, 'opening') };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { path: file, fault: error.message, fixable: file !== null && isFixable(file, 0o177), keys: [] };
  }
}

/** Checks that the data directory exists and can contain a vault, who can write to it, and how much space is free. */
async function dataDirectory(dataDir: string, reserveBytes: number, fix: boolean): Promise<readonly Finding[]> {
  const full = resolve(dataDir);
  const unsearchable = unsearchableDirectory(dataDir);
  if (unsearchable !== null) return [problem('data directory', unsearchableText(full, unsearchable))];
  if (!existsSync(dataDir)) {
    return [
      problem(
        'data directory',
        `${full} does not exist`,
        'Choose another directory with --data, or run `strongroom init`.',
      ),
    ];
  }
  const content = faultOfContent(dataDir);
  if (content !== null) return [problem('data directory', content)];
  const { place, fixed } = await corrected('data directory', () => dataDirectoryPlace(dataDir), 0o700, fix);
  const own = place.fault === null ? [] : [faultFound('data directory', place.fault, place)];
  return [...fixed, ...own, ...replaceable(dataDir, place), freeSpace(full, reserveBytes)];
}

/**
 * Looks up the mode of the data directory. Mounted volumes often have modes with which other users could write, and a
 * valid owner and group, which is no fault. The text is the one with which the vault refuses to open the directory.
 */
function dataDirectoryPlace(dataDir: string): Place {
  const stats = statSync(dataDir);
  const fault = (stats.mode & writableByOthers) === 0 ? null : faultOfDataDirectory(stats, dataDir);
  return { path: dataDir, fault, fixable: fault !== null && isFixable(dataDir, writableByOthers) };
}

/**
 * Checks that no other user can replace the data directory or its files. Reports a fault that several files share only
 * once. If the mode of the directory is at fault, the files share that fault, so they are not checked.
 */
function replaceable(dataDir: string, { fault }: Place): readonly Finding[] {
  const files = fault === null ? databases : [];
  const found = new Map<string, Finding>();
  for (const path of [dataDir, ...files.map((file) => join(dataDir, file))]) {
    const faultOfThis = faultOfPath(path);
    if (faultOfThis === null || found.has(faultOfThis)) continue;
    const name = path === dataDir ? `the data directory ${path}` : path;
    found.set(faultOfThis, problem('data directory', `${name} ${faultOfThis}`));
  }
  return [...found.values()];
}

/** Returns the fault of a place as a finding. */
function faultFound(check: string, fault: string, { fixable }: Place): Finding {
  return problem(check, fault, fixable ? '`strongroom doctor --fix` corrects the mode.' : undefined);
}

/**
 * Looks up a place. If `fix` is true and its fault is fixable, sets its mode to `mode` and looks it up again. Returns
 * the place, and a finding if the mode was changed.
 */
async function corrected<P extends Place>(
  check: string,
  look: () => P | Promise<P>,
  mode: number,
  fix: boolean,
): Promise<{ readonly place: P; readonly fixed: readonly Finding[] }> {
  const place = await look();
  const { path, fixable } = place;
  if (!fix || !fixable || path === null) return { place, fixed: [] };
  chmodSync(path, mode);
  const says = `other users could access ${path}; its mode is now ${mode.toString(8)}`;
  return { place: await look(), fixed: [{ check, state: 'fixed', says }] };
}

/** Returns true if this user owns the file or directory, and its mode has one of the bits in `bad`. */
function isFixable(path: string, bad: number): boolean {
  const stats = lookUp(path);
  return stats !== undefined && stats.uid === process.geteuid?.() && (stats.mode & bad) !== 0;
}

/** Returns undefined if the path does not exist or cannot be looked up. Other checks report that. */
function lookUp(path: string): Stats | undefined {
  return unsearchableDirectory(path) === null ? statSync(path, { throwIfNoEntry: false }) : undefined;
}

function freeSpace(dataDir: string, reserveBytes: number): Finding {
  const { freeBytes, reservedBytes } = diskSpace(dataDir, reserveBytes);
  const says = `${sizeText(freeBytes)} are free in ${dataDir}`;
  if (freeBytes >= freeBytesMin + reservedBytes) return ok('disk', says);
  const reserve = `the reserve of ${sizeText(reservedBytes)} (disk.reserve_bytes)`;
  return freeBytes < reservedBytes
    ? problem('disk', `${says}, less than ${reserve}`, 'Free some space: creates and updates are rejected until then.')
    : problem('disk', says, `Free some space: if less than ${reserve} is free, creates and updates are rejected.`);
}

const units = ['KiB', 'MiB', 'GiB', 'TiB'];

/** Returns a size in the largest unit of which there is at least one, such as `73.3 GiB`. */
function sizeText(bytes: number): string {
  const steps = Math.min(Math.max(Math.floor(Math.log2(bytes) / 10), 1), units.length);
  return `${(bytes / 1024 ** steps).toFixed(1)} ${units[steps - 1]}`;
}
