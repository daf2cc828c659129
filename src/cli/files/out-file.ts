import { randomBytes } from 'node:crypto';
import { type FileHandle, link, lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileErrorCode } from '../../compose/files/file-error-code.js';
import { fsyncPath } from '../../compose/files/fsync-path.js';
import { Failure } from '../failure.js';
import { unwritable } from '../file-fault.js';

/** A file that has a temporary name until it is complete. */
export type OutFile = {
  write(bytes: Uint8Array): Promise<void>;
  /**
   * Gives the file its final name, durably. If a file with that name already exists, leaves that file unchanged and
   * returns false.
   */
  commit(): Promise<boolean>;
  /** Removes the incomplete file. */
  abandon(): Promise<void>;
};

/**
 * Creates a file next to `path` under a name that marks it as partial. Only the file's owner can read it. Throws
 * Failure if the file cannot be created.
 */
export async function openOutFile(path: string): Promise<OutFile> {
  const folder = dirname(path);
  const partPath = partOf(path);
  const file = await open(partPath, 'wx', 0o600).catch((error: unknown) => {
    throw unwritable(path, error);
  });
  return {
    async write(bytes) {
      await writeWhole(file, bytes).catch((error: unknown) => {
        throw unwritable(path, error);
      });
    },
    async commit() {
      try {
        await file.sync();
        await file.close();
        const isNew = await nameIfFree(partPath, path);
        await rm(partPath, { force: true });
        await fsyncPath(folder);
        return isNew;
      } catch (error) {
        throw unwritable(path, error);
      }
    },
    async abandon() {
      await file.close().catch(() => undefined);
      await removePart(partPath);
    },
  };
}

/**
 * Creates a file that only its owner can read. `fill` writes the content. When `fill` has returned, the file receives
 * its name, durably. Throws Failure if a file with that name exists or appears meanwhile, or if the file cannot be
 * written. If the function throws, it removes the incomplete file. If the file has its name, but the name cannot be made
 * durable, the complete file stays.
 */
export async function writeNewFile<T>(path: string, fill: (write: OutFile['write']) => Promise<T>): Promise<T> {
  await expectFree(path);
  const file = await openOutFile(path);
  try {
    const result = await fill(file.write);
    if (!(await file.commit())) throw taken(path);
    return result;
  } catch (error) {
    await file.abandon();
    throw error;
  }
}

/**
 * Creates a directory that only its owner can read. `fill` writes the files, durably, into a directory with a temporary
 * name, which receives its final name when `fill` has returned. Throws Failure if the directory exists, receives files
 * from another program meanwhile, or cannot be written. If the function throws, it leaves no incomplete directory behind.
 */
export async function writeNewDirectory<T>(path: string, fill: (part: string) => Promise<T>): Promise<T> {
  await expectFree(path);
  const target = resolve(path);
  const part = partOf(target);
  try {
    await mkdir(part, { mode: 0o700 });
    const result = await fill(part);
    await fsyncPath(part);
    await rename(part, target);
    await fsyncPath(dirname(target));
    return result;
  } catch (error) {
    await removePart(part);
    throw fileErrorCode(error) === null ? error : unwritable(path, error);
  }
}

/** Returns a new name next to `path` that marks the file or directory as partial. */
function partOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.part-${randomBytes(4).toString('hex')}`);
}

/** Throws Failure if a file or directory with this name exists, or if the name is `-`. */
export async function expectFree(path: string): Promise<void> {
  expectName(path);
  // `resolve` removes a slash at the end, which would hide a file.
  if (await exists(resolve(path))) throw taken(path);
}

/**
 * Throws Failure if the path is `-`. For other commands and other options, `-` is standard output or input, so an
 * operator does not mean a file of that name.
 */
export function expectName(path: string): void {
  if (path !== '-') return;
  throw new Failure(
    'this command cannot write to standard output (-). Specify the name of a new file or directory.',
    2,
  );
}

function taken(path: string): Failure {
  return new Failure(`${path} already exists; nothing was changed. Choose another name.`);
}

function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/**
 * Removes an incomplete file, or an incomplete directory with its content. Never throws, so that the caller reports why
 * it is incomplete. Removing fails for the same reason as writing if, for example, this user may not search the
 * directory.
 */
async function removePart(part: string): Promise<void> {
  await rm(part, { recursive: true, force: true }).catch(() => undefined);
}

async function writeWhole(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
}

/**
 * Gives the partial file its final name. Returns false if `path` already exists. Creates a hard link instead of
 * renaming the file, because a rename would replace an existing file.
 */
async function nameIfFree(partPath: string, path: string): Promise<boolean> {
  try {
    await link(partPath, path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'EOPNOTSUPP' && code !== 'ENOSYS') throw error;
    // File systems such as FAT do not support hard links. On those, the file is renamed instead.
    if (await exists(path)) return false;
    await rename(partPath, path);
    return true;
  }
}
