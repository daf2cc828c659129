import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';

const program = fileURLToPath(new URL('./left-transaction-process.mjs', import.meta.url));

/**
 * Starts a process that changes `root_check` or `tenant_keys` in a transaction. Kills the process before the
 * transaction commits.
 */
export async function killedHolding(held: string, url: string, keysDatabase: string): Promise<void> {
  const child = spawn(process.execPath, [program, url, keysDatabase, held], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  const first = await Promise.race([once(child.stdout, 'data'), ended]);
  child.kill('SIGKILL');
  await ended;
  expect(String(first)).toBe('open\n');
}
