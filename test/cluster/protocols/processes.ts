import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { directoryIndexes } from '#src/adapters/mongodb/directory/directory-indexes.js';
import { ensureGenerations } from '#src/adapters/mongodb/generations/generations-document.js';
import { keyIndexes } from '#src/adapters/mongodb/key-store/key-collections.js';
import { ensureIndexes } from '#src/adapters/mongodb/required-indexes.js';
import { tokenRowsIndexes } from '#src/adapters/mongodb/token-rows/token-rows-indexes.js';
import type { Waits } from '#src/adapters/mongodb/work/waits.js';
import { workIndexes } from '#src/adapters/mongodb/work-indexes.js';
import type { JsonObject } from '#src/domain/json.js';
import { eventStoreDb } from '../../support/eventstoredb.js';
import { mongoDatabase, mongoUrl } from '../own-database.js';

const source = fileURLToPath(new URL('./process.mjs', import.meta.url));

/**
 * These waits are short enough that the tests do not become slow, and long enough that a running process is never
 * considered dead. A fingerprint claim counts as old at once.
 */
export const waits: Waits = { claimMs: 1_500, batchMs: 1_500, ownerMs: 400, fingerprintMs: 0 };

export type Command = JsonObject & { readonly do: string };
export type TokenBody = JsonObject & { readonly id: string; readonly revision: number };
export type Answer = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly code: string };
export type Stop = { readonly at: number; readonly signal: 'SIGKILL' | 'SIGSTOP' };

/** A running process of the cluster (process.mjs). */
export type Process = {
  /**
   * Runs a command, and returns its result. Returns `killed` or `stopped` if the process stopped before the call that
   * `stop` selects.
   */
  run(command: Command, stop?: Stop): Promise<Answer | 'killed' | 'stopped'>;
  /** Resumes a stopped process, and returns the result of its command. */
  wake(): Promise<Answer>;
  end(): Promise<void>;
};

export type Cluster = {
  readonly tenantId: string;
  /** Returns a process that no other case uses. Most processes were started in advance. */
  process(): Promise<Process>;
  /** Returns a process to the pool for the next case if the process is still alive. */
  giveBack(process: Process): void;
  close(): Promise<void>;
};

const spares = 2;

/** Starts servers and processes for one test file, and creates a tenant for that file. */
export async function openProcesses(): Promise<Cluster> {
  const dir = mkdtempSync(join(tmpdir(), 'strongroom-protocols-'));
  const program = await bundleInto(dir);
  const [server, database] = await Promise.all([eventStoreDb(), mongoDatabase()]);
  const { db } = database.connection;
  await ensureIndexes(db, [tokenRowsIndexes(1), directoryIndexes, ...workIndexes]);
  await ensureGenerations(database.connection, async () => 1);
  await ensureIndexes(db.client.db(`${db.databaseName}_keys`), keyIndexes);
  const urls = { mongodb: mongoUrl, eventstore: server.url };
  const settings = { urls, waits, database: db.databaseName, rootKey: randomBytes(32).toString('hex') };
  const running = new Set<Process>();
  const waiting: Promise<Process>[] = [];
  const start = async (): Promise<Process> => {
    const started = await startProcess(program, settings);
    running.add(started);
    return started;
  };
  const first = await start();
  const made = await first.run({ do: 'tenant' });
  if (typeof made === 'string' || !made.ok) throw new Error('there is no tenant');
  waiting.push(Promise.resolve(first), ...Array.from({ length: spares }, start));
  return {
    tenantId: String(made.value),
    async process() {
      while (waiting.length <= spares) waiting.push(start());
      return waiting.shift() ?? start();
    },
    giveBack: (process) => void waiting.unshift(Promise.resolve(process)),
    async close() {
      await Promise.allSettled(waiting);
      await Promise.all([...running].map((one) => one.end()));
      await db.client.db(`${db.databaseName}_keys`).dropDatabase();
      await database.drop();
      await server.remove();
      rmSync(dir, { recursive: true });
    },
  };
}

/**
 * Bundles the program of a process and all its modules into one file in `dir`, and returns the path of the file. The
 * tests kill a process more than a hundred times, and without the bundle, each new process would spend most of its
 * time loading 800 small modules.
 */
async function bundleInto(dir: string): Promise<string> {
  const bundle = await rolldown({ input: source, platform: 'node' });
  const file = join(dir, 'process.mjs');
  await bundle.write({ file, codeSplitting: false });
  return file;
}

async function startProcess(program: string, settings: object): Promise<Process> {
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  child.stdin.on('error', () => undefined);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const send = (what: object) => void child.stdin.write(`${JSON.stringify(what)}\n`);
  async function next(): Promise<unknown> {
    const { done, value } = await lines.next();
    return done ? 'killed' : JSON.parse(value);
  }
  send(settings);
  if ((await next()) !== 'ready') throw new Error('a process did not start');
  return {
    run(command, stop) {
      send({ command, stop: stop ?? null });
      return next() as ReturnType<Process['run']>;
    },
    wake() {
      child.kill('SIGCONT');
      return next() as Promise<Answer>;
    },
    async end() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
