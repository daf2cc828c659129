import { spawn } from 'node:child_process';
import { decodeKeyText, keyTextBytesMax } from './key-text.js';
import { noRootKey, type RootKeyResult } from './root-key-result.js';

const timeLimitMs = 10_000;

/**
 * Runs the program from `root_key_command` with its arguments and without a shell, and reads the root key from its
 * output. Stops the program after 10 seconds. The message never quotes the program's output or its standard error,
 * because both may contain secrets.
 */
export async function runKeyCommand(
  command: readonly [string, ...string[]],
  limitMs: number = timeLimitMs,
): Promise<RootKeyResult> {
  const output = Buffer.allocUnsafeSlow(keyTextBytesMax);
  try {
    const ended = await run(command, output, limitMs);
    if (!ended.ok) return noRootKey(`${ended.message} Run it by hand to see why.`);
    const key = decodeKeyText(output.subarray(0, ended.sizeBytes));
    if (key !== null) return { ok: true, key };
    return noRootKey(
      'the command of root_key_command did not print a root key: 64 hexadecimal characters and nothing else.',
    );
  } finally {
    output.fill(0);
  }
}

type Ended = { ok: true; sizeBytes: number } | { ok: false; message: string };

function run([program, ...args]: readonly [string, ...string[]], output: Buffer, limitMs: number): Promise<Ended> {
  return new Promise<Ended>((resolve) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    let sizeBytes = 0;
    const end = (ended: Ended) => {
      clearTimeout(timer);
      // The program may have started another process that inherited the pipe. Closing the pipe here ensures that we do
      // not wait for that process.
      child.stdout.destroy();
      child.kill('SIGKILL');
      resolve(ended);
    };
    const failed = (what: string) => end({ ok: false, message: `the command of root_key_command ${what}.` });
    const timer = setTimeout(() => failed(`did not end within ${limitMs / 1000} s`), limitMs);
    child.stdout.on('data', (chunk: Buffer) => {
      sizeBytes += chunk.copy(output, sizeBytes);
      chunk.fill(0);
      if (sizeBytes === output.length) failed('printed more than a root key');
    });
    child.on('error', () => failed('could not be started'));
    child.on('close', (status) => {
      if (status === 0) end({ ok: true, sizeBytes });
      else failed(status === null ? 'was ended by a signal' : `ended with status ${status}`);
    });
    // `spawn` can throw an error that quotes the program's arguments, so the message does not include that error.
  }).catch(() => ({ ok: false, message: 'the command of root_key_command could not be started.' }));
}
