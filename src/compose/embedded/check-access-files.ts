import { existsSync, statSync } from 'node:fs';
import { checkMonths } from '../../adapters/sqlite/access-log/check-months.js';
import type { Config } from '../config/config.js';
import { faultOfDataDirectory } from './data-directory.js';

/**
 * Checks the files of the access log as `checkMonths` does. A service may have them open at the same time. Returns null
 * if the access log is not in files, or if the data directory is missing or belongs to another user.
 */
export function checkAccessFiles(
  { settings }: Config,
  onFile: (fileName: string) => void,
): ReturnType<typeof checkMonths> | null {
  const { data, profile } = settings;
  if (profile !== 'embedded' || !existsSync(data)) return null;
  // Another user's process would create files next to the database files that the service could not open.
  if (faultOfDataDirectory(statSync(data), data) !== null) return null;
  return checkMonths(data, 'reader', onFile);
}
