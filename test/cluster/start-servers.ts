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
  const areRunning = (env: NodeJS.ProcessEnv) => spawnSync(program, ['status'], { env }).status === 0;
  const isOurs = process.env[folder] === undefined && !areRunning(process.env);
  const env = isOurs ? { ...process.env, [folder]: join(fastFolder(), 'strongroom-test-servers') } : process.env;
  const ranBefore = areRunning(env);
  const stop = (options: readonly string[]) => {
    if (!ranBefore) execFileSync(program, ['down', ...options], { env });
  };
  try {
    const output = execFileSync(program, ['up'], { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
    for (const [, name, value] of output.matchAll(/^export (\w+)='(.*)'$/gm)) process.env[String(name)] = value;
    return () => stop(isOurs ? ['--clean'] : []);
  } catch (error) {
    stop([]); // The logs stay, because the message of `up` names them.
    throw error;
  }
}
