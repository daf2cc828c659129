import { randomFillSync } from 'node:crypto';
import { closeSync, fsyncSync, lstatSync, openSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fsyncPathSync } from '../../adapters/shared/fsync-path-sync.js';
import { shellWord } from '../files/shell-word.js';
import { encodeKeyText, rootKeySizeBytes } from './key-text.js';

/**
 * Generates a root key in a new file with mode 0600. If the key were lost, the data sealed under it would be lost too.
 * The function therefore flushes the file and its directory entry to disk before it returns, and never overwrites an
 * existing file.
 */
export function generateRootKey(path: string): { ok: true } | { ok: false; message: string } {
  const created = create(path);
  if (!created.ok) return created;
  const key = randomFillSync(Buffer.allocUnsafeSlow(rootKeySizeBytes));
  const text = encodeKeyText(key);
  try {
    writeFileSync(created.descriptor, text);
    fsyncSync(created.descriptor);
    fsyncPathSync(dirname(resolve(path)));
    return { ok: true };
  } catch {
    unlinkSync(path);
    return { ok: false, message: `the root key could not be written to ${path}. Check the disk, then try again.` };
  } finally {
    key.fill(0);
    text.fill(0);
    closeSync(created.descriptor);
  }
}

function create(path: string): { ok: true; descriptor: number } | { ok: false; message: string } {
  try {
    return { ok: true, descriptor: openSync(path, 'wx', 0o600) };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EEXIST' && lstatSync(path, { throwIfNoEntry: false })?.size === 0) {
      return {
        ok: false,
        message:
          `${path} already exists and is empty. An interrupted command can leave such a file. If no key was ever in ` +
          `it, remove it, then try again: rm ${shellWord(path)}`,
      };
    }
    if (code === 'EEXIST') {
      return {
        ok: false,
        message:
          `${path} already exists and was not changed: without the key in it, data would be lost. Choose another ` +
          'name.',
      };
    }
    if (code === 'ENOENT') {
      return {
        ok: false,
        message: `the directory of ${path} does not exist. Create it first: mkdir -p ${shellWord(dirname(path))}`,
      };
    }
    return { ok: false, message: `${path} cannot be created. Check that this user may write to its directory.` };
  }
}
