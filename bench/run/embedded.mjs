import { join } from 'node:path';
import { boundedWorks, connectionCounts, growthWorks, planOf, works } from '../plan.mjs';
import { measureErasure } from './erasure.mjs';
import { partsOfRequests } from './parts.mjs';
import { startLimit, startLoadGenerator, strongroomJson } from './processes.mjs';
import { profileOf } from './profile.mjs';
import { createFresh, sideBySide } from './rounds.mjs';
import { fileSizes, makeVault, memoryOf } from './vault.mjs';

const isRead = (work) => /^(get|list|search)/.test(work);

/** Measures the embedded profile: at each size what grows with it, and at the last size everything. */
export async function measureEmbedded({ directory, mode, say }) {
  const plan = planOf(mode);
  const generator = startLoadGenerator();
  const fresh = createFresh(10_000_000);
  const growth = [];
  const table = [];
  let rest = {};
  let bare;
  try {
    for (const size of plan.sizes) {
      say(`importing ${size} tokens`);
      const vault = await makeVault(join(directory, String(size)), size);
      const files = fileSizes(vault.data);
      // The first start after an import should have no more to do than any other start.
      const first = await vault.start();
      await first.stop();
      const service = await vault.start();
      const last = size === plan.sizes.at(-1);
      const measure = measurer({ generator, fresh, vault, service, directory, plan, say });
      const idleMemory = memoryOf(service.pid);
      const warmUp = { work: 'get revealed', origins: [service.origin], keys: vault.keys, connections: 64, from: 0 };
      await generator.run({ ...warmUp, count: plan.warmUp, stored: size, fresh: 0 });
      const rows = [];
      for (const [work, connections] of growthWorks) {
        rows.push(await measure(work, connections, last ? plan.rounds : plan.growthRounds));
      }
      if (last) {
        const known = (work, connections) => rows.find((row) => row.work === work && row.connections === connections);
        for (const work of works) {
          for (const connections of connectionCounts) {
            table.push(known(work, connections) ?? (await measure(work, connections, plan.rounds)));
          }
        }
        bare = await besideBareVault({ generator, fresh, vault, service, directory, plan, say });
        say('erasure');
        rest = { erasure: await measureErasure({ vault, service, generator, fresh, count: plan.erasures }) };
      }
      const memory = { idle: idleMemory, afterLoad: memoryOf(service.pid) };
      await service.stop();
      const secondsToReady = { afterImport: first.secondsToReady, usual: service.secondsToReady };
      growth.push({ size, files, memory, import: vault.import, secondsToReady, rows });
      if (last) {
        say('profile');
        rest.parts = await partsOfRequests(vault, plan.parts);
        rest.profile = await profileOf({ vault, generator, fresh, countOf: plan.countOf, directory });
      }
      if (!plan.rebuilt.includes(size)) continue;
      say(`rebuilding ${size} tokens`);
      growth.at(-1).rebuild = await rebuild(vault);
    }
  } finally {
    await generator.stop();
  }
  return { table, growth, bare, ...rest };
}

/** Measures one workload beside its limit, whose responses are as long as those of the vault. */
function measurer({ generator, fresh, vault, service, directory, plan, say }) {
  const { keys, size: stored } = vault;
  const own = { name: 'vault', origins: [service.origin], keys, stored, pid: service.pid };
  return async (work, connections, rounds) => {
    say(`${work}, ${connections} connections, ${stored} tokens`);
    const count = plan.countOf(work, connections);
    const bytes = isDelete(work) ? 0 : await answerBytes(generator, work, own, fresh);
    const limit = await limitOf(work, bytes, directory);
    const prepare = isDelete(work)
      ? (first, howMany) =>
          generator.run({
            work: 'create to delete',
            ...{ origins: own.origins, keys, connections: 64, count: howMany, from: 0, stored, fresh: first },
          })
      : undefined;
    try {
      const competitors = [
        { ...own, prepare },
        { ...own, name: 'limit', origins: [limit.origin], pid: limit.pid, warmUp: plan.warmUp },
      ];
      return await sideBySide(generator, { work, connections, count, rounds, fresh, competitors });
    } finally {
      await limit.stop();
    }
  };
}

/**
 * Measures workloads beside a bare vault, which does only the necessary work, and a get beside a response of the
 * service that needs no vault.
 */
async function besideBareVault({ generator, fresh, vault, service, directory, plan, say }) {
  const { keys, size: stored } = vault;
  const connections = 64;
  const own = { name: 'vault', origins: [service.origin], keys, stored, pid: service.pid };
  say('filling a bare vault');
  const bytes = await answerBytes(generator, 'get revealed', own, fresh);
  const bare = await startLimit('bare-vault', [directory, stored, bytes]);
  const results = [];
  try {
    for (const work of boundedWorks) {
      say(`${work} beside a bare vault`);
      const limit = await limitOf(work, await answerBytes(generator, work, own, fresh), directory);
      const competitors = [
        own,
        ...(work === 'get revealed' ? [{ ...own, name: 'no vault', work: 'no vault' }] : []),
        { ...own, name: 'bare vault', origins: [bare.origin], pid: bare.pid, warmUp: plan.warmUp },
        { ...own, name: 'limit', origins: [limit.origin], pid: limit.pid, warmUp: plan.warmUp },
      ];
      const count = plan.countOf(work, connections);
      try {
        results.push(
          await sideBySide(generator, { work, connections, count, rounds: plan.rounds, fresh, competitors }),
        );
      } finally {
        await limit.stop();
      }
    }
  } finally {
    await bare.stop();
  }
  return results;
}

/** Starts the limit of a workload with responses of this many bytes. */
function limitOf(work, bytes, directory) {
  return isRead(work) ? startLimit('fixed-answer', [bytes]) : startLimit('durable-insert', [directory, bytes]);
}

/** Returns the mean length of two hundred responses of the vault to a workload, bytes. */
async function answerBytes(generator, work, { origins, keys, stored }, fresh) {
  const given = { work, origins, keys, stored, connections: 1, count: 200, from: 0, fresh: fresh(200) };
  return Math.round((await generator.run(given)).bytes);
}

function isDelete(work) {
  return work === 'delete';
}

/** Measures how long the command line takes to rebuild all rows from the log while no service runs. */
async function rebuild({ flags }) {
  const { projections } = await strongroomJson(['projections', 'status', ...flags]);
  const { head: events } = projections.find(({ name }) => name === 'tokens');
  const began = performance.now();
  await strongroomJson(['projections', 'rebuild', 'tokens', '--yes', ...flags]);
  return { events, seconds: (performance.now() - began) / 1000 };
}
