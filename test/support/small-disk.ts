import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { tempDir } from './process.js';

export type SmallDisk = { readonly dir: string; fill(leaveBytes?: number): void; free(): void };

/** True if this user may mount file systems. Otherwise, the tests cannot fill a disk. */
export const canMount = mayMount();

function mayMount(): boolean {
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Creates a disk in memory. A test can fill the disk and free space on it. */
export function smallDisk(sizeBytes: number): SmallDisk {
  const dir = join(tempDir(), 'disk');
  mkdirSync(dir);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeBytes},mode=0700`, 'tmpfs', dir]);
  onTestFinished(() => void execFileSync('umount', ['--lazy', dir]));
  const filler = join(dir, 'filler');
  return {
    dir,
    /** Fills the disk until about this many bytes are free. By default, no space is left. */
    fill(leaveBytes = 0): void {
      const block = Buffer.alloc(4096);
      const reserve = join(dir, 'reserve');
      if (leaveBytes > 0) write(reserve, Buffer.alloc(leaveBytes));
      const descriptor = openSync(filler, 'a');
      try {
        for (;;) writeSync(descriptor, block);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      } finally {
        closeSync(descriptor);
        rmSync(reserve, { force: true });
      }
    },
    free: () => rmSync(filler, { force: true }),
  };
}

function write(path: string, bytes: Buffer): void {
  const descriptor = openSync(path, 'w');
  writeSync(descriptor, bytes);
  closeSync(descriptor);
}
