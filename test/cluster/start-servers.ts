import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fastFolder } from '../support/run-folder.js';

const program = fileURLToPath(new URL('../../scripts/servers.sh', import.meta.url));
const folder = 'STRONGROOM_SERVERS_DIR';
const named = ['STRONGROOM_TEST_MONGODB_URL', 'STRONGROOM_TEST_REDIS_URL'];

/**
 * Runs once before all suites that need servers. Starts MongoDB and Redis if the environment does not contain their
 * addresses. At the end, stops the servers that it started. If a server cannot be started, no suite is skipped: the
 * whole run fails.
 */
export function setup(): (() => void) | undefined {
  if (named.every((name) => process.env[name] !== undefined)) return undefined;
  const serversRun = () => spawnSync(program, ['status']).status === 0;
  if (!serversRun()) process.env[folder] ??= join(fastFolder(), 'strongroom-servers');
  const ranBefore = serversRun();
  const stop = (...options: readonly string[]) => {
    if (!ranBefore) execFileSync(program, ['down', ...options]);
  };
  try {
    const output = execFileSync(program, ['up'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
    for (const [, name, value] of output.matchAll(/^export (\w+)='(.*)'$/gm)) process.env[String(name)] = value;
    return () => stop('--clean');
  } catch (error) {
    stop();
    throw error;
  }
}
