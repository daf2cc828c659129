import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { chance, createModel, hiddenEarlyMsMax } from '../../crash/model.js';
import { answered } from './answered.js';
import { allErased } from './look-into.js';
import { caughtUp, ownCluster } from './own-cluster.js';
import { ownServers } from './own-servers.js';

const seed = Number(process.env['STRONGROOM_CRASH_SEED'] ?? randomInt(2 ** 31));
/** After the old primary is killed, the election of a new primary takes about ten seconds. */
const electedWithinMs = 30_000;

test(`if the primary of three nodes is killed under load, nothing acknowledged is lost (seed ${seed})`, {
  timeout: 600_000,
}, async () => {
  const servers = await ownServers(3);
  const cluster = await ownCluster(servers);
  const model = createModel(cluster.key, chance(seed), { marginMs: hiddenEarlyMsMax });
  const [api] = await Promise.all([cluster.start('api'), cluster.start('worker')]);
  const load = new AbortController();
  const callers = Promise.all(Array.from({ length: 6 }, () => model.caller(api.address, load.signal)));
  await answered(model, callers, 100);

  const primary = await servers.primary();
  await servers.mongo[primary]?.kill();
  const killedAt = performance.now();
  await answered(model, callers, 50, electedWithinMs);
  const electedMs = Math.round(performance.now() - killedAt);
  servers.mongo[primary]?.start();
  load.abort();
  await callers;

  await caughtUp(api);
  await allErased(servers, cluster);
  expect(await model.check(api.address)).toEqual([]);
  console.log(
    `50 answers more ${electedMs} ms after the kill; acknowledged ${JSON.stringify(model.acknowledged)}, ${model.unavailable()} unavailable`,
  );
});
