import { constants, platform, setPriority } from 'node:os';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { openRebuildReader } from '../../adapters/sqlite/open-rebuild-reader.js';
import { createExpressions } from '../../domain/expressions/expressions.js';
import { buildPage } from '../../jobs/rebuild/build-page.js';
import { foldDirectory } from '../../jobs/rebuild/fold-directory.js';
import type { RebuildThread } from '../../ports/rebuild-thread.js';
import type { FromThread, ThreadData, ThreadMethod, ToThread } from './protocol.js';
import { toThreadError } from './thread-error.js';

/** The thread that reads, opens and compares for a rebuild, so that the one that serves HTTP does not. */
function start(port: MessagePort, { dataDir, rootKey }: ThreadData): void {
  giveWay();
  const reader = openRebuildReader(dataDir, Buffer.from(rootKey.buffer, rootKey.byteOffset, rootKey.length));
  const { sources, keys, revisionsIn, compare } = reader;
  const expressions = createExpressions();
  const methods: Pick<RebuildThread, ThreadMethod> = {
    async build({ generation }, after, limit) {
      try {
        return await buildPage({ ...sources, expressions }, revisionsIn(generation), after, limit);
      } finally {
        // Threat: a key that is destroyed meanwhile stays open here.
        keys.forgetAll();
      }
    },
    compare: async (generations, which) => compare(generations, which),
    directory: () => foldDirectory(sources.log),
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
      await reader.close();
      port.close();
    }
  });
}

/** Those who read and write meanwhile have the processor first. Elsewhere than on Linux this would be of the whole process. */
function giveWay(): void {
  if (platform() !== 'linux') return;
  try {
    setPriority(constants.priority.PRIORITY_LOW);
  } catch {
    // A service that may not change priorities rebuilds as well.
  }
}

if (parentPort !== null) start(parentPort, workerData as ThreadData);
