import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Config } from './config/config.js';
import { realPath } from './files/real-path.js';

/**
 * Returns a description of what is wrong with this process's container and how to correct it. Returns null if nothing
 * is wrong or the setting `container` is off. Threat: an attacker who takes over a process that runs as root can read
 * and change everything in its container. The description also covers data on the container's own file system, because
 * such data is lost with the container.
 */
export function faultOfContainer({ settings }: Config): string | null {
  if (!settings.container) return null;
  if (process.geteuid?.() === 0) {
    return (
      'this container runs as root. Start it as another user, for example with --user 10001:10001 (runAsNonRoot on ' +
      'Kubernetes).'
    );
  }
  if (settings.profile !== 'embedded' || deviceOf(settings.data) !== deviceOf('/')) return null;
  return (
    `the data directory ${settings.data} is not on a volume, so its data would be lost with the container. Mount ` +
    `a volume at ${settings.data}, or set --data to a directory on a volume.`
  );
}

/**
 * Returns the device of a path, or of its nearest existing parent. A volume is never on the same device as the
 * container's root file system.
 */
function deviceOf(path: string): number {
  const real = realPath(path);
  const stats = statSync(real, { throwIfNoEntry: false });
  return stats?.dev ?? deviceOf(dirname(real));
}
