import { spawn } from 'node:child_process';
import type { Anchor } from '../../ports/anchor.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';

const usualLimitMs = 10_000;

/**
 * Runs a command for each line, without a shell. The first element of `command` is the program. The command receives
 * the line on its standard input and must exit with status 0 within `limitMs` (10 s by default).
 */
export function commandAnchor(command: readonly [string, ...string[]], limitMs = usualLimitMs): Anchor {
  const [program, ...args] = command;
  return {
    deliver: (line) =>
      new Promise<void>((resolve, reject) => {
        const child = spawn(program, args, { stdio: ['pipe', 'ignore', 'ignore'] });
        const end = (reason: string | null) => {
          clearTimeout(timer);
          child.kill('SIGKILL');
          if (reason === null) resolve();
          else reject(new StoreUnavailable('audit anchor', reason));
        };
        const timer = setTimeout(() => end('no_end_in_time'), limitMs);
        child.on('error', () => end('not_started'));
        child.on('exit', (status) => end(status === 0 ? null : 'ended_with_an_error'));
        // Ignores write errors. A command can exit successfully before it has read its whole input, and the write then
        // fails.
        child.stdin.on('error', () => undefined);
        child.stdin.end(`${line}\n`);
      }).catch((error: unknown) => {
        // Replaces any error that `spawn` throws synchronously, because its message contains the command's arguments.
        throw error instanceof StoreUnavailable ? error : new StoreUnavailable('audit anchor', 'not_started');
      }),
  };
}
