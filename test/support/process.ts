import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { createTenant } from '#src/commands/tenancy/create-tenant.js';
import { openEmbedded } from '#src/compose/embedded/embedded.js';
import { generateRootKey } from '#src/compose/root-key/generate-root-key.js';
import { loadRootKey } from '#src/compose/root-key/root-key.js';
import { tokenPermissions } from '#src/domain/access/permission.js';
import type { JsonObject } from '#src/domain/json.js';
import { rule } from './test-service.js';

/** The installed program. It always runs in a separate process. */
const program = fileURLToPath(new URL('../../dist/bin/strongroom.js', import.meta.url));
const startLimitMs = 60_000;

export type RunOptions = {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly stdin?: string | Buffer;
  /** The user id that the program runs as. The test must run as root to set it. */
  readonly uid?: number;
  /** The maximum number of files and connections that the process can have open at the same time. */
  readonly descriptors?: number;
  /** The group id that the program runs as. By default, it is the same number as the user id. */
  readonly gid?: number;
  /** If true, closes the output of the program before the program writes anything. */
  readonly leavesAtOnce?: boolean;
  /**
   * If true, the program has the process id 1 in its namespace, as in a container. The test must run as root to set it.
   * `unshare` starts the program, so a signal from the test goes to `unshare`.
   */
  readonly isFirstProcess?: boolean;
  /** Standard input stays open after `stdin`, so the program waits for more. */
  readonly keepsInputOpen?: boolean;
  /** This output of the program goes to `/dev/full`, a device that behaves like a file on a full disk. */
  readonly fillsDisk?: 'stdout' | 'stderr';
  /** The start of a command line that runs the program through another program. */
  readonly through?: readonly string[];
  /** How a shell discards standard output. */
  readonly discards?: '>&-' | '>/dev/null';
};

export type Ended = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** Creates a directory for one test, and removes it when the test ends. */
export function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'strongroom-process-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

function start(
  args: readonly string[],
  {
    env = {},
    cwd,
    stdin,
    keepsInputOpen,
    uid,
    gid = uid,
    descriptors,
    leavesAtOnce,
    fillsDisk,
    discards,
    isFirstProcess,
    through = [],
  }: RunOptions,
): ChildProcess {
  const namespace = isFirstProcess === true ? ['unshare', '--pid', '--fork', '--kill-child'] : [];
  const command = [...namespace, ...through, process.execPath, program, ...args];
  const limited = ['sh', '-c', `ulimit -n ${descriptors} && exec "$0" "$@"`, ...command];
  const redirect = discards ?? (fillsDisk === undefined ? null : `${fillsDisk === 'stderr' ? 2 : 1}>/dev/full`);
  const redirected = ['sh', '-c', `exec "$0" "$@" ${redirect}`, ...command];
  const [file = '', ...rest] = redirect !== null ? redirected : descriptors === undefined ? command : limited;
  const child = spawn(file, rest, {
    // The program does not get the settings from the environment of the person who runs the tests.
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
    ...(uid === undefined ? {} : { uid }),
    ...(gid === undefined ? {} : { gid }),
  });
  child.stdin?.on('error', () => undefined);
  child.stdin?.write(stdin ?? '');
  if (keepsInputOpen !== true) child.stdin?.end();
  if (leavesAtOnce === true) child.stdout?.destroy();
  return child;
}

function outputOf(child: ChildProcess): { stdout: string; stderr: string } {
  const output = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  return output;
}

function ending(child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
}

/** Runs `strongroom` with these arguments, and waits until it exits. */
export async function run(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const child = start(args, options);
  const output = outputOf(child);
  const ended = await ending(child);
  return { ...ended, ...output };
}

/**
 * Starts `strongroom` with these arguments, and does not wait for it to exit. The process is stopped when the test
 * ends.
 */
export function spawnCommand(args: readonly string[], options: RunOptions = {}) {
  const child = start(args, options);
  const output = outputOf(child);
  const ended = ending(child).then((end): Ended => ({ ...end, ...output }));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const stop = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  const endInput = () => void child.stdin?.end();
  return { ended, stop, endInput, /** What the command has printed so far. */ output };
}

/** Runs a command with `--json`, checks that it succeeds, and returns its result. */
export async function runJson(args: readonly string[], options: RunOptions = {}): Promise<JsonObject> {
  const ended = await run([...args, '--json'], options);
  if (ended.code !== 0) throw new Error(`strongroom ${args.join(' ')} ended with ${ended.code}: ${ended.stderr}`);
  return jsonResult(ended);
}

/**
 * Returns the result that a command printed with `--json`, which is the last line. A command that takes more than five
 * seconds, for example on a busy machine, prints lines about its progress before the result.
 */
export function jsonResult({ stdout }: Pick<Ended, 'stdout'>): JsonObject {
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as JsonObject;
}

export type Service = {
  /**
   * The address that the service logs when it is ready. For a worker, the address is empty, because a worker does not
   * serve requests.
   */
  readonly address: string;
  readonly pid: number;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Sends the signal, which is SIGTERM by default, and waits until the process exits. */
  stop(signal?: NodeJS.Signals): Promise<Ended>;
  signal(signal: NodeJS.Signals): void;
  readonly ended: Promise<Ended>;
};

/**
 * Starts `strongroom serve` on a free port, and does not wait until it is ready. `ready` rejects if the process exits
 * before it is ready.
 */
export function spawnService(args: readonly string[], options: RunOptions = {}) {
  const child = start(['serve', '--port', '0', ...args], options);
  const output = outputOf(child);
  const ended = ending(child).then((end) => ({ ...end, ...output }));
  let hasEnded = false;
  ended.then(
    () => {
      hasEnded = true;
    },
    () => {
      hasEnded = true;
    },
  );
  const pid = child.pid ?? 0;
  onTestFinished(async () => {
    if (!hasEnded) child.kill('SIGKILL');
    await ended;
  });
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return ended;
  };

  async function ready(): Promise<Service> {
    const address = await until('the ready line', startLimitMs, () => {
      const line = /"msg":"Strongroom (?:listens on|works in the background)/.exec(output.stdout);
      if (line === null && hasEnded) throw new Error(`serve ended before it was ready: ${output.stderr}`);
      if (line === null) return undefined;
      return /"address":"([^"]+)"/.exec(output.stdout)?.[1] ?? '';
    });
    return {
      address,
      pid,
      ended,
      stop,
      stdout: () => output.stdout,
      stderr: () => output.stderr,
      signal: (signal) => void child.kill(signal),
    };
  }

  return { pid, ended, stop, ready };
}

/** Starts `strongroom serve` on a free port, and waits until it is ready. */
export function startService(args: readonly string[], options: RunOptions = {}): Promise<Service> {
  return spawnService(args, options).ready();
}

const hourMs = 3_600_000;
const minuteMs = 60_000;

/**
 * Starts `strongroom serve` on a vault without checkpoints, and waits until it has signed the first one, which it does
 * in the background. It signs the next one when it stops. A service also signs a checkpoint when an hour begins. If that
 * is less than a minute away, this function waits for it before the start.
 */
export async function startSigningService(
  { dataDir, flags }: Pick<TestVault, 'dataDir' | 'flags'>,
  args: readonly string[] = [],
  options: RunOptions = {},
): Promise<Service> {
  const leftMs = hourMs - (Date.now() % hourMs);
  if (leftMs < minuteMs) await wait(leftMs);
  const service = await startService([...flags, ...args], options);
  await until('the first checkpoint', minuteMs, () => {
    const vault = pinStatements(join(dataDir, 'vault.db'), { readonly: true });
    const found = vault.prepare(`SELECT 1 FROM events WHERE type = 'audit.checkpoint'`).get();
    vault.close();
    return found;
  });
  return service;
}

/** Calls the function repeatedly until its result is not undefined. */
export async function until<T>(
  what: string,
  limitMs: number,
  ask: () => T | undefined | Promise<T | undefined>,
): Promise<T> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > deadline) throw new Error(`${what} did not come within ${limitMs} ms`);
    await wait(10);
  }
}

export type HttpAnswer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: JsonObject;
};

export type HttpOptions = {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The certificate that the server must present. */
  readonly ca?: Buffer;
};

/** Sends one request over a separate connection. Rejects if the connection breaks. */
export function http(method: string, url: string, { key, headers, body, ca }: HttpOptions = {}): Promise<HttpAnswer> {
  const payload = body === undefined ? null : JSON.stringify(body);
  const mediaType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const call = send(
      url,
      {
        method,
        agent: false,
        ...(ca === undefined ? {} : { ca }),
        headers: {
          ...(key === undefined ? {} : { 'service-api-key': key }),
          ...(payload === null ? {} : { 'content-type': mediaType, 'content-length': Buffer.byteLength(payload) }),
          ...headers,
        },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => {
          text += part;
        });
        response.on('error', reject);
        response.on('end', () => {
          const isJson = (response.headers['content-type'] ?? '').includes('json') && text !== '';
          const parsed = isJson ? (JSON.parse(text) as JsonObject) : {};
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, body: parsed });
        });
      },
    );
    call.on('error', reject);
    call.end(payload ?? undefined);
  });
}

/** Creates a root key in `dir`, the folder that will also contain the data directory. */
export function makeRootKey(dir: string): string {
  const file = join(dir, 'root.key');
  const generated = generateRootKey(file);
  if (!generated.ok) throw new Error(generated.message);
  return file;
}

export type TestVault = {
  readonly dir: string;
  readonly dataDir: string;
  readonly rootKeyFile: string;
  /** The flags `--data` and `--root-key-file` with their values. */
  readonly flags: readonly string[];
  readonly tenantId: string;
  readonly managementKey: string;
  /** The key of a private application with the transform `reveal` for all tokens. */
  readonly key: string;
};

/**
 * Creates a vault as `init` does, with one additional application. The vault is created in the test's process, because
 * starting a separate process takes a long time.
 */
export async function makeVault(dir = tempDir(), dataDir = join(dir, 'data')): Promise<TestVault> {
  const rootKeyFile = makeRootKey(dir);
  const loaded = await loadRootKey({ file: rootKeyFile, dataDir });
  if (!loaded.ok) throw new Error(loaded.message);
  const fail = (error: unknown) => {
    throw error;
  };
  const service = await openEmbedded({
    dataDir,
    rootKey: loaded.key,
    mode: 'production',
    cvcRetentionMs: 3_600_000,
    onError: fail,
    onBroken: fail,
  });
  const access = { kind: 'rules', rules: [rule('/', 'reveal', tokenPermissions)] } as const;
  const all = { name: 'all', type: 'private', access, expiresAt: null } as const;
  const made = await createTenant(service.vault, 'default', [all]);
  await service.close();
  return {
    dir,
    dataDir,
    rootKeyFile,
    flags: ['--data', dataDir, '--root-key-file', rootKeyFile],
    tenantId: made.tenantId,
    managementKey: made.managementKey.reveal(),
    key: made.keys[0]?.reveal() ?? '',
  };
}

/**
 * Returns a hash of each file below a directory. If two results are equal, nothing in the directory changed between
 * them.
 */
export function hashesOf(dir: string): Readonly<Record<string, string>> {
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((file) => statSync(join(dir, file)).isFile())
    .sort();
  return Object.fromEntries(
    files.map((file) => [
      file,
      createHash('sha256')
        .update(readFileSync(join(dir, file)))
        .digest('hex'),
    ]),
  );
}

/**
 * Copies a data directory, and returns the copy's path. The copy is removed when the test ends. A service may run on
 * the directory. Its control socket is not copied, and neither are the files that become the file of a new month: they
 * are renamed or removed, so they could vanish before they are copied.
 */
export function copyOf(dataDir: string): string {
  const copy = join(tempDir(), 'data');
  cpSync(dataDir, copy, { recursive: true, filter: (file) => !/\.sock$|\.db\.new/.test(file) });
  return copy;
}

/** Returns the address that the service has logged in this field. */
export function loggedAddress({ stdout }: Service, field: 'console_address' | 'admin_address'): Promise<string> {
  return until(field, startLimitMs, () => new RegExp(`"${field}":"([^"]+)"`).exec(stdout())?.[1]);
}
