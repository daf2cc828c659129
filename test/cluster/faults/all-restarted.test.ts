import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { chance, createModel, hiddenEarlyMsMax } from '../../crash/model.js';
import { until } from '../../support/process.js';
import { answered } from './answered.js';
import { allErased } from './look-into.js';
import { caughtUp, type Member, ownCluster } from './own-cluster.js';
import { ownServers } from './own-servers.js';

const seed = Number(process.env['STRONGROOM_CRASH_SEED'] ?? randomInt(2 ** 31));
const backWithinMs = 60_000;

test(`if all servers and processes are killed at once, nothing acknowledged is lost (seed ${seed})`, {
  timeout: 600_000,
}, async () => {
  const servers = await ownServers();
  const { eventStore, mongo, redis } = servers;
  const cluster = await ownCluster(servers);
  const model = createModel(cluster.key, chance(seed), { marginMs: hiddenEarlyMsMax });
  const roles = ['api', 'api', 'worker'] as const;
  const members = await Promise.all(roles.map((role) => cluster.start(role)));
  const load = Promise.all(members.slice(0, 2).flatMap(({ address }) => [1, 2, 3].map(() => model.caller(address))));
  await answered(model, load, 200);
  await Promise.all([
    ...members.map((member) => member.stop('SIGKILL')),
    ...[eventStore, redis, ...mongo].map((server) => server.kill()),
  ]);
  await load;

  const startedAt = performance.now();
  let starts = 0;
  /** Restarts a process, as a supervisor would, until it finds all stores available. */
  const supervised = (role: (typeof roles)[number]): Promise<Member> =>
    until(`a ready ${role}`, backWithinMs, () => {
      starts += 1;
      return cluster.start(role).catch(() => undefined);
    });
  const starting = Promise.all(roles.map(supervised));
  await eventStore.start();
  for (const server of [redis, ...mongo]) server.start();
  const [api] = await starting;
  const backMs = Math.round(performance.now() - startedAt);
  if (api === undefined) throw new Error('three were started');
  await caughtUp(api);
  await allErased(servers, cluster);
  expect(await model.check(api.address)).toEqual([]);
  console.log(`ready after ${backMs} ms and ${starts} starts; acknowledged ${JSON.stringify(model.acknowledged)}`);
});
