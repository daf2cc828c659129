import { join } from 'node:path';
import { startLoadGenerator, strongroomJson } from './processes.mjs';
import { createFresh, summary } from './rounds.mjs';
import { makeVault } from './vault.mjs';

const sizes = { quick: 5_000, normal: 100_000, full: 1_000_000 };
/** The number of connections. With so few, no response waits for another one. */
const connections = 2;
const getsAtOnce = 1_000;
const chunksAtRest = 10;

/**
 * Measures how much a rebuild slows concurrent readers down. The service runs in the embedded profile. The readers send
 * GET requests that reveal tokens, in chunks of 1,000. They send the first chunks while the service is otherwise idle,
 * and the other chunks during a rebuild. Each result is a summary over the chunks, in ms.
 */
export async function measureRebuild({ directory, mode, say }) {
  const tokens = sizes[mode];
  say(`importing ${tokens} tokens`);
  const vault = await makeVault(join(directory, 'rebuild'), tokens);
  const service = await vault.start();
  const generator = startLoadGenerator();
  const fresh = createFresh(10_000_000);
  let asked = 0;
  const gets = async () => {
    const job = { work: 'get revealed', origins: [service.origin], keys: vault.keys, connections, stored: tokens };
    asked += getsAtOnce;
    return generator.run({ ...job, count: getsAtOnce, from: asked, fresh: fresh(getsAtOnce) });
  };
  try {
    say('gets at rest');
    for (let i = 0; i < chunksAtRest; i++) await gets();
    const atRest = [];
    for (let i = 0; i < chunksAtRest; i++) atRest.push(await gets());
    say('gets during a rebuild');
    const began = performance.now();
    let goesOn = true;
    const rebuilt = strongroomJson(['projections', 'rebuild', 'tokens', '--yes', ...vault.flags]).finally(() => {
      goesOn = false;
    });
    const during = [];
    while (goesOn) during.push(await gets());
    await rebuilt;
    const seconds = (performance.now() - began) / 1000;
    return { rebuild: { tokens, connections, seconds, atRest: figuresOf(atRest), during: figuresOf(during) } };
  } finally {
    await generator.stop();
    await service.stop();
  }
}

function figuresOf(chunks) {
  const of = (figure) => summary(chunks.map((chunk) => chunk[figure]));
  return { chunks: chunks.length, p50: of('p50'), p95: of('p95'), p99: of('p99') };
}
