import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

export const root = resolve(import.meta.dirname, '../../..');
export const home = join(root, 'clients/python');
export const bin = join(home, '.venv/bin');

/**
 * Runs a program to completion and returns its output. If the program fails, throws an error that contains the output.
 */
export async function run(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  cwd = home,
): Promise<string> {
  const options = { cwd, env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: home, ...env } };
  const { stdout, stderr } = await promisify(execFile)(program, args, options).catch((error: unknown) => {
    throw new Error(String(error) + (error as { stdout?: string }).stdout);
  });
  return stdout + stderr;
}
