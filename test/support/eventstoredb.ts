import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('./eventstoredb-stand-in/main.mjs', import.meta.url));

/** A process that speaks EventStoreDB's protocol for tests, with a directory of its own. */
export type StandIn = {
  /** Where its events lie: `appends.jsonl`. */
  readonly directory: string;
  readonly url: string;
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** Ends it as a crash does: nothing of what it was doing is finished. */
  kill(): Promise<void>;
  /** Starts it again on the same port with the same data. */
  start(): Promise<void>;
  /** Ends it and removes its data. */
  remove(): Promise<void>;
};

/** `forgetful`: it does not know a repeat of an append, as the real server does. */
export async function startStandIn(fault?: 'forgetful'): Promise<StandIn> {
  const directory = mkdtempSync(join(tmpdir(), 'strongroom-eventstoredb-stand-in-'));
  let running = await spawnStandIn(directory, 0, fault);
  const { port } = running;
  const kill = async () => {
    running.child.kill('SIGKILL');
    await running.ended;
  };
  return {
    directory,
    url: `esdb://127.0.0.1:${port}?tls=false`,
    signal: (signal) => void running.child.kill(signal),
    kill,
    async start() {
      running = await spawnStandIn(directory, port, fault);
    },
    async remove() {
      await kill();
      rmSync(directory, { recursive: true });
    },
  };
}

/**
 * The server that tests of the protocol run on: a real one when `STRONGROOM_TEST_EVENTSTORE_URL` names it, which may
 * hold anything and is left as it is, else a stand-in.
 */
export async function eventStoreDb(): Promise<{ readonly url: string; remove(): Promise<void> }> {
  const url = process.env['STRONGROOM_TEST_EVENTSTORE_URL'];
  return url === undefined ? startStandIn() : { url, remove: async () => undefined };
}

async function spawnStandIn(directory: string, port: number, fault = 'none') {
  const child: ChildProcess = spawn(process.execPath, [program, directory, String(port), fault], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const bound = new Promise<number>((resolve, reject) => {
    let output = '';
    child.once('error', reject);
    child.once('close', () => reject(new Error(`the stand-in ended: ${output}`)));
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const named = /:(\d+)\?tls=false\n/.exec(output)?.[1];
      if (named !== undefined) resolve(Number(named));
    });
  });
  return { child, ended, port: await bound };
}
