import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { isAbsolute, relative, sep } from 'node:path';
import { decodeKeyText } from './key-text.js';
import { realPath } from './real-path.js';
import { noRootKey, type RootKeyResult } from './root-key-result.js';

/** 64 characters and a line end of two; one more shows that a file is longer. */
const readSizeBytes = 67;
const ownerModes: readonly number[] = [0o600, 0o400];

/**
 * Reads the root key from a regular file of this user that nobody else may read, outside of the data directory, because
 * whoever has a copy of that folder must not have its key too. Links are followed first; what is checked is what is read.
 */
export function readKeyFile(file: string, dataDir: string): RootKeyResult {
  const path = realPath(file);
  if (isInside(path, realPath(dataDir))) {
    return noRootKey(
      `The root key file ${file} is inside the data directory ${dataDir}, so that a copy of the data would carry its ` +
        'own key. Move it elsewhere and set root_key_file to its new path.',
    );
  }
  const opened = open(path, file);
  if (!opened.ok) return noRootKey(opened.message);
  const text = Buffer.allocUnsafeSlow(readSizeBytes);
  try {
    const fault = faultOf(fstatSync(opened.descriptor), file);
    if (fault !== null) return noRootKey(fault);
    const sizeBytes = readSync(opened.descriptor, text);
    const key = decodeKeyText(text.subarray(0, sizeBytes));
    if (key !== null) return { ok: true, key };
    return noRootKey(
      `The root key file ${file} does not hold a root key: 64 hexadecimal characters and nothing else. ` +
        'Put the right file back; `strongroom keys generate-root FILE` makes a key for new data.',
    );
  } catch {
    return noRootKey(`The root key file ${file} cannot be read. Check its file system.`);
  } finally {
    text.fill(0);
    closeSync(opened.descriptor);
  }
}

function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Without blocking: opening a pipe that nobody writes to would otherwise wait for ever. */
function open(path: string, file: string): { ok: true; descriptor: number } | { ok: false; message: string } {
  try {
    return { ok: true, descriptor: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK) };
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const message = isMissing
      ? `The root key file ${file} does not exist. \`strongroom keys generate-root ${file}\` makes a key for new data.`
      : `The root key file ${file} cannot be opened. Check that this user owns it and may read it.`;
    return { ok: false, message };
  }
}

function faultOf(stats: Stats, file: string): string | null {
  if (!stats.isFile()) return `The root key file ${file} is not a regular file. Set root_key_file to one.`;
  if (stats.uid !== process.geteuid?.()) {
    return `The root key file ${file} belongs to another user. Make the user that runs Strongroom its owner (chown).`;
  }
  if (!ownerModes.includes(stats.mode & 0o7777)) {
    return `The root key file ${file} must be for its owner alone: mode 0600 or 0400. Run: chmod 600 ${file}`;
  }
  return null;
}
