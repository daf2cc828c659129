import { accessSync, chmodSync, constants, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const prefix = 'strongroom-run-';
const memory = '/dev/shm';
const neededBytes = 8 * 1024 ** 3;

/** The folder for all temporary files in a run, including the files of processes that tests start. */
let folder: string | null = null;

export function setup(): void {
  // Every project calls this function, but all projects share one folder. Only the first call creates the folder.
  if (basename(tmpdir()).startsWith(prefix)) return;
  folder = mkdtempSync(join(fastFolder(), prefix));
  // The test for one docs page runs commands as a second user. That user must be able to read the folder.
  chmodSync(folder, 0o755);
  process.env['TMPDIR'] = folder;
}

export function teardown(): void {
  if (folder !== null) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/**
 * Returns a file system in memory, or the temporary directory if there is not enough memory or programs cannot run from
 * it. A sync in memory takes no time, so the tests of the cluster profile take about half as long. The tests kill
 * processes, but never the machine, so a sync to a disk would not protect anything that they check.
 */
export function fastFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(memory);
    const isLarge = Math.min(bavail * bsize, freemem()) >= neededBytes;
    return isLarge && mayRunPrograms(memory) ? memory : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** Throws if the folder is read-only. Returns false if its file system is mounted with `noexec`, as in a container. */
function mayRunPrograms(parent: string): boolean {
  const place = mkdtempSync(join(parent, prefix));
  const program = join(place, 'program');
  try {
    writeFileSync(program, '', { mode: 0o700 });
    accessSync(program, constants.X_OK);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(place, { recursive: true });
  }
}
