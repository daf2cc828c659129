// Starts and stops the processes of a run: the vault in its installed form, the limits, and the load generator.
import { execFile, fork, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const program = fileURLToPath(new URL('../../dist/bin/strongroom.js', import.meta.url));
const readyLimitMs = 120_000;

/** Runs `strongroom` with these arguments until it exits. Returns its output. */
export async function strongroom(args) {
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], {
    maxBuffer: 2 ** 30,
  });
  return stdout;
}

/** Runs a command with `--json`. Returns the last line that it printed, parsed as JSON. */
export async function strongroomJson(args) {
  const lines = (await strongroom([...args, '--json'])).trim().split('\n');
  return JSON.parse(lines.at(-1));
}

/**
 * Starts the vault, and waits until it is ready. The service writes its log to a file, as on a real server.
 * `secondsToReady` is how long the start took. `nodeFlags` are passed to Node.js.
 */
export async function startVault(flags, { logFile, role = 'all', nodeFlags = [] }) {
  const log = openSync(logFile, 'w');
  const began = performance.now();
  const child = spawn(
    process.execPath,
    [...nodeFlags, program, 'serve', ...flags, '--port', '0', '--admin-port', 'off'],
    {
      stdio: ['ignore', log, log],
      // Turns off the rate limits, which would reject most of the benchmark's requests.
      env: { ...process.env, STRONGROOM_RATE_LIMIT_REQUESTS: '0', STRONGROOM_ROLE: role },
    },
  );
  closeSync(log);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  for (;;) {
    const output = readFileSync(logFile, 'utf8');
    if (/"msg":"Strongroom (?:listens on|works in the background)/.test(output)) {
      const secondsToReady = (performance.now() - began) / 1000;
      const origin = /"address":"([^"]+)"/.exec(output)?.[1];
      const [stop, kill] = ['SIGTERM', 'SIGKILL'].map((signal) => () => stopped(child, ended, signal));
      return { origin, pid: child.pid, secondsToReady, stop, kill };
    }
    if (child.exitCode !== null || performance.now() - began > readyLimitMs) {
      throw new Error(`the vault did not start:\n${readFileSync(logFile, 'utf8')}`);
    }
    await wait(20);
  }
}

async function stopped(child, ended, signal = 'SIGTERM') {
  child.kill(signal);
  await ended;
}

/** Starts one of the programs in `bench/limits`. Returns its address. */
export async function startLimit(name, args) {
  const file = fileURLToPath(new URL(`../limits/${name}.mjs`, import.meta.url));
  const child = fork(file, args.map(String));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const { address } = await answerOf(child);
  return { origin: address, pid: child.pid, stop: () => stopped(child, ended) };
}

/** Starts the load generator. `run` sends it one job, and returns the result. */
export function startLoadGenerator() {
  const child = fork(fileURLToPath(new URL('../load/load-generator.mjs', import.meta.url)));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  return {
    async run(job) {
      child.send(job);
      const result = await answerOf(child);
      if (result.error !== undefined) throw new Error(result.error);
      return result;
    },
    stop: () => stopped(child, ended),
  };
}

function answerOf(child) {
  return new Promise((resolve, reject) => {
    const failed = (code) => reject(new Error(`${child.spawnargs[1]} ended with ${code}`));
    child.once('exit', failed);
    child.once('message', (message) => {
      child.off('exit', failed);
      resolve(message);
    });
  });
}
