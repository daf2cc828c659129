import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { connectionCounts, growthWorks, planOf, profiledWorks, works } from '../plan.mjs';
import { measureErasure } from './erasure.mjs';
import { startLimit, startLoadGenerator, strongroomJson } from './processes.mjs';
import { profileOf } from './profile.mjs';
import { createFresh, sideBySide } from './rounds.mjs';
import { fileSizes, makeVault, memoryOf } from './vault.mjs';

const mostConnections = 64;
const isRead = (work) => /^(get|list|search)/.test(work);
const isDelete = (work) => work === 'delete';

/**
 * Measures the embedded profile. The vault of the main size is measured with every workload. The vaults of the other
 * sizes are measured only with the workloads whose speed depends on the size.
 */
export async function measureEmbedded({ directory, mode, say }) {
  const plan = planOf(mode);
  const generator = startLoadGenerator();
  const fresh = createFresh(10_000_000);
  const growth = [];
  const table = [];
  let rest = {};
  try {
    for (const size of plan.sizes) {
      say(`importing ${size} tokens`);
      const vault = await makeVault(join(directory, String(size)), size);
      const files = fileSizes(vault.data);
      // The first start after an import completes work that the import left unfinished. A separate start completes this
      // work here, so that the measured start does not include it.
      const first = await vault.start();
      await first.stop();
      const service = await vault.start();
      const idleMemory = memoryOf(service.pid);
      const measure = measurer({ generator, fresh, vault, service, directory, plan, say });
      const isMain = size === plan.main;
      const measured = [];
      for (const work of isMain ? works : growthWorks) {
        measured.push(...(await measure(work, isMain ? connectionCounts : [mostConnections])));
      }
      if (isMain) {
        table.push(...measured);
        say('erasure');
        rest = { erasure: await measureErasure({ vault, service, generator, fresh, count: plan.erasures }) };
      }
      const memory = { idle: idleMemory, afterLoad: memoryOf(service.pid) };
      say('a start after a kill under load');
      await killUnderLoad({ vault, service, generator, fresh });
      const again = await vault.start();
      await again.stop();
      const secondsToReady = {
        afterImport: first.secondsToReady,
        usual: service.secondsToReady,
        afterKill: again.secondsToReady,
      };
      const rows = measured.filter((row) => row.connections === mostConnections && growthWorks.includes(row.work));
      growth.push({ size, files, memory, import: vault.import, secondsToReady, rows });
      if (isMain) {
        say('profile');
        rest.profile = await profileOf({
          vault,
          generator,
          fresh,
          countOf: plan.countOf,
          directory,
          works: profiledWorks,
        });
      }
      if (!plan.rebuilt.includes(size)) continue;
      say(`rebuilding ${size} tokens`);
      growth.at(-1).rebuild = await rebuild(vault);
    }
  } finally {
    await generator.stop();
  }
  return { table, growth, ...rest };
}

/** Measures one workload for the main table with 64 connections. Returns its row. */
export async function measureOne({ directory, mode, say, work }) {
  const plan = planOf(mode);
  const generator = startLoadGenerator();
  const fresh = createFresh(10_000_000);
  try {
    say(`importing ${plan.main} tokens`);
    const vault = await makeVault(join(directory, 'one'), plan.main);
    const service = await vault.start();
    const measure = measurer({ generator, fresh, vault, service, directory, plan, say });
    const table = await measure(work, [mostConnections]);
    await service.stop();
    return { table };
  } finally {
    await generator.stop();
  }
}

/**
 * Measures the vault next to the limit server, for one workload. The limit server's responses are as long as those of
 * the vault. The measurement begins with the highest number of connections and ends with the lowest. Both servers are
 * warmed up once, before the first measurement.
 */
function measurer({ generator, fresh, vault, service, directory, plan, say }) {
  const { keys, size: stored } = vault;
  const own = { name: 'vault', origins: [service.origin], keys, stored, pid: service.pid };
  return async (work, connectionCounts) => {
    const bytes = isDelete(work) ? 0 : await answerBytes(generator, work, own, fresh);
    const limit = await limitOf(work, bytes, directory);
    const prepare = isDelete(work)
      ? (first, count) =>
          generator.run({
            work: 'create to delete',
            origins: own.origins,
            keys,
            connections: mostConnections,
            count,
            from: 0,
            stored,
            fresh: first,
          })
      : undefined;
    const competitors = [
      { ...own, prepare },
      { ...own, name: 'limit', origins: [limit.origin], pid: limit.pid },
    ];
    const rows = [];
    try {
      for (const connections of connectionCounts.toSorted((a, b) => b - a)) {
        say(`${work}, ${connections} connections, ${stored} tokens`);
        const count = plan.countOf(work, connections);
        const warmUpSeconds = rows.length === 0 ? plan.warmUpSeconds : 0;
        const rounds = stored === plan.main ? plan.rounds : plan.growthRounds;
        rows.unshift(
          await sideBySide(generator, { work, connections, count, rounds, warmUpSeconds, fresh, competitors }),
        );
      }
    } finally {
      await limit.stop();
    }
    return rows;
  };
}

/** Starts the limit server for a workload. Each of its responses has `bytes` bytes. */
function limitOf(work, bytes, directory) {
  return isRead(work) ? startLimit('fixed-answer', [bytes]) : startLimit('durable-insert', [directory, bytes]);
}

/** Sends two hundred requests of a workload to the vault. Returns the mean length of the responses, in bytes. */
async function answerBytes(generator, work, { origins, keys, stored }, fresh) {
  const given = { work, origins, keys, stored, connections: 1, count: 200, from: 0, fresh: fresh(200) };
  return Math.round((await generator.run(given)).bytes);
}

const killAfterMs = 1_000;

/** Kills the service with SIGKILL while it is creating tokens. */
async function killUnderLoad({ vault, service, generator, fresh }) {
  const count = 20_000;
  const job = { work: 'create card', origins: [service.origin], keys: vault.keys, connections: mostConnections };
  const load = generator
    .run({ ...job, count, from: 0, stored: vault.size, fresh: fresh(count) })
    .catch(() => undefined);
  await wait(killAfterMs);
  await service.kill();
  await load;
}

/** Measures how long a command takes to rebuild all rows from the log while no service runs. */
async function rebuild({ flags }) {
  const { projections } = await strongroomJson(['projections', 'status', ...flags]);
  const { head: events } = projections.find(({ name }) => name === 'tokens');
  const began = performance.now();
  await strongroomJson(['projections', 'rebuild', 'tokens', '--yes', ...flags]);
  return { events, seconds: (performance.now() - began) / 1000 };
}
