import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('../../scripts/kubernetes-tools.sh', import.meta.url));

/**
 * Prepares the tools, and passes their paths to the tests in environment variables. If a tool is missing, the run
 * fails.
 */
export default function prepareTools(): void {
  const printed = execFileSync(script, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  for (const [, name = '', value = ''] of printed.matchAll(/^export (\w+)='(.*)'$/gm)) process.env[name] = value;
}
