import { constants, platform, setPriority } from 'node:os';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { openRebuildReader } from '../../adapters/sqlite/open-rebuild-reader.js';
import { authenticLog } from '../../audit/authentic-log.js';
import { createExpressions } from '../../domain/expressions/expressions.js';
import { openKeyRing } from '../../keys/open-key-ring.js';
import type { RebuildThread } from '../../ports/rebuild-thread.js';
import { foldDirectory } from '../../projections/project-directory.js';
import { buildPage } from '../../projections/rebuild/build-page.js';
import { authenticDirectory } from '../../vault/authentic-directory.js';
import { type FromThread, startId, type ThreadData, type ThreadMethod, type ToThread } from './protocol.js';
import { toThreadError } from './thread-error.js';

/**
 * Runs in the rebuild thread. It reads events, decrypts them and compares rows, so that the HTTP thread does not have
 * to do this work.
 */
async function start(port: MessagePort, { dataDir, rootKey }: ThreadData): Promise<void> {
  giveWay();
  const { reader, keys } = await openStores(dataDir, rootKey);
  const { storedLog, revisionsIn, compare } = reader;
  const integrity = await keys.integrityKeys();
  const sources = { ...reader.sources, keys, log: authenticLog(storedLog, keys) };
  const directory = authenticDirectory({
    directory: sources.directory,
    keys,
    key: integrity.rows,
    // This thread writes nothing. The serving thread repairs the directory on its next read.
    heal: async () => undefined,
  });
  const rowSources = { ...sources, directory, integrity, expressions: createExpressions() };
  const methods: Pick<RebuildThread, ThreadMethod> = {
    async build({ generation }, after, limit) {
      try {
        return await buildPage(rowSources, revisionsIn(generation), after, limit);
      } finally {
        // Threat: an attacker reads data whose key was destroyed during the rebuild. This thread's cache could still
        // contain that key.
        keys.forgetAll();
      }
    },
    compare: async (generations, which) => compare(generations, which),
    directory: () => foldDirectory(sources.log, integrity.rows),
  };

  async function answer(id: number, method: ThreadMethod, input: readonly unknown[]): Promise<FromThread> {
    try {
      const run = methods[method] as (...given: readonly unknown[]) => Promise<unknown>;
      return { id, ok: true, answer: await run(...input) };
    } catch (error) {
      return { id, ok: false, error: toThreadError(error) };
    }
  }

  port.on('message', async (message: ToThread) => {
    if (message.method !== 'close') port.postMessage(await answer(message.id, message.method, message.input));
    else {
      await keys.close();
      reader.close();
      port.close();
    }
  });
}

/** Opens the files and the keys of the data directory. Zeroes the root key, whose memory the serving thread shares. */
async function openStores(dataDir: string, rootKey: Uint8Array) {
  const ownRootKey = Buffer.from(rootKey.buffer, rootKey.byteOffset, rootKey.length);
  try {
    const reader = openRebuildReader(dataDir);
    const clock = { now: () => Date.now() };
    const store = reader.keyStore;
    return { reader, keys: await openKeyRing({ store, rootKey: ownRootKey, clock, traceLimits: 'seals_none' }) };
  } finally {
    ownRootKey.fill(0);
  }
}

/**
 * Lowers this thread's priority, so that requests get the CPU first. On operating systems other than Linux, does
 * nothing, because the priority would apply to the whole process.
 */
function giveWay(): void {
  if (platform() !== 'linux') return;
  try {
    setPriority(constants.priority.PRIORITY_LOW);
  } catch {
    // The service may not have permission to change priorities. In that case, the rebuild runs at normal priority.
  }
}

if (parentPort !== null) {
  const port = parentPort;
  start(port, workerData as ThreadData).catch((error: unknown) => {
    port.postMessage({ id: startId, ok: false, error: toThreadError(error) } satisfies FromThread);
  });
}
