import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const profiledWorks = ['get revealed', 'create card'];

/**
 * What part of the time of the serving thread is spent in Node's cryptography, per work: from a profile of the running vault,
 * of the time in which it was not idle.
 */
export async function cryptoShare({ vault, generator, fresh, count, directory }) {
  const shares = {};
  for (const work of profiledWorks) {
    const profiles = join(directory, `profile-${work.replaceAll(' ', '-')}`);
    const nodeFlags = ['--cpu-prof', `--cpu-prof-dir=${profiles}`];
    const service = await vault.start({ nodeFlags });
    const { keys, size: stored } = vault;
    await generator.run({
      work,
      origins: [service.origin],
      keys,
      connections: 64,
      count,
      from: 0,
      stored,
      fresh: fresh(count),
    });
    await service.stop();
    shares[work] = shareOf(profiles);
  }
  return shares;
}

/** The serving thread is the first of a process; its profile is the one that ends with thread 0. */
function shareOf(directory) {
  const file = readdirSync(directory).find((name) => /\.0\.\d+\.cpuprofile$/.test(name));
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(join(directory, file), 'utf8'));
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  let busy = 0;
  let crypto = 0;
  for (const [i, id] of samples.entries()) {
    const { functionName, url } = frames.get(id);
    if (functionName === '(idle)') continue;
    busy += timeDeltas[i];
    if (url.startsWith('node:internal/crypto/')) crypto += timeDeltas[i];
  }
  return crypto / busy;
}
