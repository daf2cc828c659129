import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { tokenStream } from '#src/events/tokens/stream-name.js';
import { catchUp } from '#src/projections/projection-runner.js';
import { shredEndedKeys } from '#src/projections/shredder.js';
import { commandsOn } from './commands.mjs';
import { faultsOf, storyOf } from './faults.mjs';
import { openVault } from './open-vault.mjs';
import { createSteps } from './steps.mjs';

/**
 * One process of the cluster. It reads commands from standard input, one JSON document per line, and writes responses
 * to standard output. A command can make the process stop itself before one of the command's store calls.
 */
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const next = async () => JSON.parse((await lines.next()).value ?? 'null');
const say = (answer) => writeSync(1, `${JSON.stringify(answer)}\n`);

const { rootKey, ...settings } = await next();
const steps = createSteps();
const { vault, stores } = await openVault(settings, Buffer.from(rootKey, 'hex'), steps);
const { rowWriter: rows, directoryWriter: directory, checkpoints, batches, clearFingerprints } = stores;

async function follow() {
  const lead = await checkpoints.lead('tokens', 'protocols', 60_000);
  await catchUp({ vault, rows, directory, checkpoints, pendingBatchStreams: batches.pendingBatchStreams }, lead);
  return { ok: true };
}

const verbs = {
  ...commandsOn(vault),
  follow,
  async clear() {
    await clearFingerprints();
    return { ok: true };
  },
  /** Runs a worker's background work immediately. */
  async work() {
    await batches.clear();
    await clearFingerprints();
    await follow();
    await shredEndedKeys(vault.log, vault.keys);
    return { ok: true };
  },
  async faults() {
    return { ok: true, value: await faultsOf(stores) };
  },
  async story({ tenantId, id }) {
    const { names } = await vault.keys.tenantKeys(tenantId);
    return { ok: true, value: await storyOf(stores, tokenStream(names, id)) };
  },
};

say('ready');
for (let job = await next(); job !== null; job = await next()) {
  const { command, stop } = job;
  try {
    say(await steps.during(stop, () => verbs[command.do](command)));
  } catch (error) {
    say({ ok: false, code: error.name === 'StoreUnavailable' ? 'unavailable' : String(error.stack) });
  }
}
process.exit(0);
