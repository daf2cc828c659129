import { createHash } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { fsyncPathSync } from '../../adapters/shared/fsync-path-sync.js';
import { RotationRefused } from '../../keys/rotation.js';
import { isRoots } from '../files/own-group.js';
import { shellWord } from '../files/shell-word.js';
import { generateRootKey } from './generate-root-key.js';
import { decodeKeyText, encodeKeyText } from './key-text.js';
import { readKeyFile } from './read-key-file.js';
import type { RootKeyPlace } from './root-key-place.js';

/**
 * Returns the next root key for a rotation. If the key does not exist and `mayMake` is true, creates it. The key is on
 * disk before it wraps any other key. If an earlier rotation was interrupted just before it removed the file of the
 * next root key, removes that file and returns null. The caller must zero the key. Throws RotationRefused if no usable
 * key is available.
 */
export function takeNextRootKey({ file, nextFile, dataDir, isDev }: RootKeyPlace, mayMake: boolean): Buffer | null {
  const isOurs = file !== null && isReplaced(file);
  if (nextFile === null || (!isOurs && !existsSync(nextFile))) {
    throw new RotationRefused(
      `the root key ${file === null ? 'comes from a command' : `file ${file} belongs to root`}, so Strongroom cannot ` +
        'replace it: create the next one with `strongroom keys generate-root FILE`, and set ' +
        'next_root_key_file (--next-root-key-file) to its path, for this command and for the service.',
    );
  }
  if (file !== null && isSameFile(file, nextFile)) {
    throw new RotationRefused(
      `root_key_file and next_root_key_file name the same file, ${file}. Remove next_root_key_file from the settings.`,
    );
  }
  if (isOurs) expectReplaceable(file);
  if (existsSync(nextFile) && isOverwritten(nextFile)) {
    remove(nextFile);
    return null;
  }
  if (!existsSync(nextFile)) {
    if (!mayMake) {
      throw new RotationRefused(
        `there is no next root key in ${nextFile}. Create it with \`strongroom keys generate-root ${shellWord(nextFile)}\`, ` +
          'and put it beside the root key on every machine of the cluster, so that all of them keep running when ' +
          'it takes over.',
      );
    }
    make(nextFile);
  }
  // An earlier call may have been killed just after it gave the file its name.
  if (isOurs) fsyncPathSync(dirname(nextFile));
  const read = readKeyFile(nextFile, dataDir, isDev);
  if (!read.ok) throw new RotationRefused(read.message);
  return read.key;
}

/**
 * What the operator must do after a rotation of a root key that Strongroom cannot replace: one from a command, or in a
 * file that belongs to root. `this file` is the file with the next root key.
 */
export const changeSettings =
  'Set root_key_file to this file, or let root_key_command return its key. Then remove next_root_key_file from the ' +
  'settings.';

/**
 * Returns true if both paths lead to the same file. A rotation must not take the root key for the next one: it would
 * remove the only file that contains the key.
 */
export function isSameFile(file: string, nextFile: string): boolean {
  const [one, other] = [file, nextFile].map((path) => statSync(path, { throwIfNoEntry: false }));
  return one !== undefined && other !== undefined && one.dev === other.dev && one.ino === other.ino;
}

/**
 * Returns true if a rotation writes the new root key to this file as its last step. Returns false for a mounted file
 * that root owns, because a rotation cannot overwrite it.
 */
export function isReplaced(file: string): boolean {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats === undefined || !isRoots(stats);
}

/**
 * Overwrites the old root key in its file with the new key. Then overwrites and removes the new key's file. If that
 * file were only removed, a disk block could still contain the new key after a later rotation has replaced it. If the
 * function is interrupted, at least one of the two files contains the complete new key. If another process has already
 * removed the new key's file, or has put another key there for the next rotation, leaves that file unchanged.
 *
 * `before` is the `hashOfFile` of the root key's file when the rotation began. Throws RotationRefused if the file has
 * changed since, unless it already contains the new key. Threat: this process was suspended, and another one completed
 * the next rotation. The file may then be the only one with the current root key.
 */
export function replaceRootKeyFile(file: string, nextFile: string, key: Buffer, before: Buffer): void {
  if (!hashOfFile(file).equals(before) && !holdsKey(file, key)) {
    throw new RotationRefused(
      `the root key file ${file} was changed while the rotation ran, for example by another rotation, so this one left ` +
        `it as it is. If ${nextFile} still exists, run the command again: it completes the rotation.`,
    );
  }
  const { mode } = statSync(file);
  chmodSync(file, 0o600);
  const text = encodeKeyText(key);
  try {
    overwrite(file, text);
  } finally {
    text.fill(0);
  }
  chmodSync(file, mode & 0o777);
  if (!holdsKey(nextFile, key)) return;
  overwrite(nextFile, Buffer.alloc(text.length));
  remove(nextFile);
}

export function hashOfFile(file: string): Buffer {
  const bytes = readFileSync(file);
  const hash = createHash('sha256').update(bytes).digest();
  bytes.fill(0);
  return hash;
}

function holdsKey(file: string, key: Buffer): boolean {
  if (!existsSync(file)) return false;
  const text = readFileSync(file);
  const held = decodeKeyText(text);
  const isHeld = held?.equals(key) ?? false;
  held?.fill(0);
  text.fill(0);
  return isHeld;
}

/**
 * Throws RotationRefused if the root key's file cannot be overwritten. Call it before the rotation begins. The rotation
 * overwrites the file only at its end, when it is too late to fail.
 */
function expectReplaceable(file: string): void {
  try {
    accessSync(dirname(file), constants.W_OK);
    // A read-only file (mode 0400) passes this check, because the rotation makes the file writable before it writes to
    // it.
    if ((statSync(file).mode & 0o200) !== 0) accessSync(file, constants.W_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') {
      throw new RotationRefused(`the root key file ${file} does not exist. Put a copy of the root key there.`);
    }
    const advice =
      code === 'EROFS'
        ? 'Its file system is read-only for this process. If systemd runs the service, add the directory of the file ' +
          'to ReadWritePaths of the unit.'
        : 'Give this user write permission on it and on its directory.';
    throw new RotationRefused(`${file} cannot be overwritten by the new root key. ${advice}`);
  }
}

/**
 * Creates the next root key. The key is first created in a temporary file, so that a crash never leaves an incomplete
 * key under the final name. The caller must flush the directory.
 */
function make(nextFile: string): void {
  const part = `${nextFile}.part`;
  rmSync(part, { force: true });
  const generated = generateRootKey(part);
  if (!generated.ok) throw new RotationRefused(generated.message);
  renameSync(part, nextFile);
}

function isOverwritten(nextFile: string): boolean {
  const bytes = readFileSync(nextFile);
  const isZero = bytes.length > 0 && bytes.every((byte) => byte === 0);
  bytes.fill(0);
  return isZero;
}

function overwrite(file: string, bytes: Buffer): void {
  const descriptor = openSync(file, 'r+');
  try {
    writeSync(descriptor, bytes, 0, bytes.length, 0);
    ftruncateSync(descriptor, bytes.length);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function remove(nextFile: string): void {
  rmSync(nextFile);
  fsyncPathSync(dirname(nextFile));
}
