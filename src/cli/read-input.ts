import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { Failure } from './failure.js';

/**
 * Returns the content of a file, or of standard input if `file` is `-`. Secrets are always passed this way and never as
 * arguments, because other users of the machine can see the arguments.
 */
export async function readInput(file: string, what: string): Promise<string> {
  if (file === '-') {
    if (process.stdin.isTTY) process.stderr.write(`Reading ${what} from standard input; end it with Ctrl-D.\n`);
    return text(process.stdin);
  }
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Failure(
      `${what} cannot be read from ${file} (${error.code ?? 'unknown reason'}). Check the path, and that this user may ` +
        'read the file.',
    );
  });
}
