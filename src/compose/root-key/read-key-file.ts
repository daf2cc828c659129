import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { isAbsolute, relative, sep } from 'node:path';
import { isOfOwnGroup, isRoots, ownGroup } from '../files/own-group.js';
import { faultOfPath } from '../files/path-fault.js';
import { realPath } from '../files/real-path.js';
import { runAsOwner } from '../files/run-as-owner.js';
import { shellWord } from '../files/shell-word.js';
import { decodeKeyText, keyTextBytesMax } from './key-text.js';
import { noRootKey, type RootKeyResult } from './root-key-result.js';

const ownerModes: readonly number[] = [0o600, 0o400];
/**
 * The required mode of a mounted file that belongs to root. The service's own group can read the file. Neither the
 * service nor other users can change it.
 */
const mountedMode = 0o440;

/**
 * Reads the root key from a regular file. The file must be outside the data directory, because a copy of that directory
 * must not include its own key. No other user may be able to replace the file, or a link or directory on its path. If
 * `isDev` is true, the key is for `--dev` data and may be in a directory of another user.
 *
 * The function accepts two kinds of files:
 * - A file that this user owns and that no other user can access.
 * - A file that root owns and that only this process's group can read. Container platforms mount secrets in this form.
 *
 * The function checks and reads the same open file, so the file cannot be replaced between the check and the read.
 */
export function readKeyFile(file: string, dataDir: string, isDev = false): RootKeyResult {
  const path = realPath(file);
  if (isInside(path, realPath(dataDir))) {
    return noRootKey(
      `the root key file ${file} is inside the data directory ${dataDir}, so a copy of the data would include its ` +
        'own key. Move it elsewhere and set root_key_file to its new path.',
    );
  }
  const replaceable = isDev ? null : faultOfPath(file);
  if (replaceable !== null) return noRootKey(`the root key file ${file} ${replaceable}`);
  const opened = open(path, file);
  if (!opened.ok) return noRootKey(opened.message);
  const text = Buffer.allocUnsafeSlow(keyTextBytesMax);
  try {
    const fault = faultOf(fstatSync(opened.descriptor), file);
    if (fault !== null) return noRootKey(fault);
    const sizeBytes = readSync(opened.descriptor, text);
    const key = decodeKeyText(text.subarray(0, sizeBytes));
    if (key !== null) return { ok: true, key };
    return noRootKey(
      `the root key file ${file} does not contain a root key: 64 hexadecimal characters and nothing else. ` +
        'Restore the right file, or create a key for new data with `strongroom keys generate-root FILE`.',
    );
  } catch {
    return noRootKey(`the root key file ${file} cannot be read. Check its file system.`);
  } finally {
    text.fill(0);
    closeSync(opened.descriptor);
  }
}

function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Opens the file in non-blocking mode. In blocking mode, opening a pipe without a writer would wait forever. */
function open(path: string, file: string): { ok: true; descriptor: number } | { ok: false; message: string } {
  try {
    return { ok: true, descriptor: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK) };
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const message = isMissing
      ? `the root key file ${file} does not exist. \`strongroom keys generate-root ${shellWord(file)}\` creates a ` +
        'key for new data.'
      : `the root key file ${file} cannot be opened by this user. Run this as the user that runs Strongroom, or ` +
        'make that user its owner (chown) with mode 0400, or give it to root and to the group of that user with ' +
        'mode 0440.';
    return { ok: false, message };
  }
}

function faultOf(stats: Stats, file: string): string | null {
  if (!stats.isFile()) return `the root key file ${file} is not a regular file. Set root_key_file to one.`;
  const mode = stats.mode & 0o7777;
  if (isRoots(stats)) return faultOfMounted(stats, mode, file);
  if (stats.uid !== process.geteuid?.()) {
    return (
      `the root key file ${file} belongs to another user. ${runAsOwner(stats.uid)} Otherwise, make the user that ` +
      'runs Strongroom its owner (chown), or give it to root and to the group of that user with mode 0440.'
    );
  }
  if (!ownerModes.includes(mode)) {
    return (
      `the root key file ${file} must be accessible to its owner only: mode 0600 or 0400. Run: chmod 600 ` +
      shellWord(file)
    );
  }
  return null;
}

/** Checks the group and the mode of a mounted file. Threat: another member of a shared group reads the key. */
function faultOfMounted(stats: Stats, mode: number, file: string): string | null {
  if (!isOfOwnGroup(stats)) {
    const group = ownGroup();
    const fix =
      group === null
        ? 'Run Strongroom in a group of its own, not in the group of root'
        : `Run: chgrp ${group} ${shellWord(file)} (on Kubernetes: set fsGroup and runAsGroup to the same group)`;
    return (
      `the root key file ${file} belongs to root and to group ${stats.gid}, which is not the primary group of ` +
      `the user that runs Strongroom. ${fix}`
    );
  }
  if (mode !== mountedMode) {
    return (
      `the root key file ${file} belongs to root, so only the group of the service may read it: mode 0440, not ` +
      `0${mode.toString(8)}. Run: chmod 440 ${shellWord(file)}`
    );
  }
  return null;
}
