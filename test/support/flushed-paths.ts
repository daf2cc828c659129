import fs from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { onTestFinished, vi } from 'vitest';

/**
 * Returns a list to which `seen` adds an item for each path that this process flushes to disk from now on. Needs Linux.
 */
export async function flushedPaths<T>(seen: (path: string) => T): Promise<readonly T[]> {
  const flushed: T[] = [];
  const note = (descriptor: number) => flushed.push(seen(fs.readlinkSync(`/proc/self/fd/${descriptor}`)));
  const handle = await open('/proc/self/status', 'r');
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const { sync } = prototype;
  const { fsyncSync } = fs;
  const ofHandles = vi.spyOn(prototype, 'sync').mockImplementation(function (this: FileHandle) {
    note(this.fd);
    return sync.call(this);
  });
  const ofDescriptors = vi.spyOn(fs, 'fsyncSync').mockImplementation((descriptor) => {
    note(descriptor);
    fsyncSync(descriptor);
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    ofHandles.mockRestore();
    ofDescriptors.mockRestore();
    syncBuiltinESMExports();
  });
  return flushed;
}
