import { randomInt } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { chance, createModel, hiddenEarlyMsMax } from '../../crash/model.js';
import { answered } from './answered.js';
import { allErased, lookInto } from './look-into.js';
import { caughtUp, ownCluster } from './own-cluster.js';
import { ownServers } from './own-servers.js';

const rounds = Number(process.env['STRONGROOM_CRASH_ROUNDS'] ?? 6);
const seed = Number(process.env['STRONGROOM_CRASH_SEED'] ?? randomInt(2 ** 31));
const callers = 8;

/**
 * Kills an API process with SIGKILL at a random moment under load, for example between an append and the write of the
 * row. A worker must then bring the rows and the keys up to the head of the log. The test checks this through another
 * process.
 */
test(`${rounds} kills of an API process lose nothing that was acknowledged (seed ${seed})`, {
  timeout: 600_000,
}, async () => {
  const random = chance(seed);
  const servers = await ownServers();
  const cluster = await ownCluster(servers);
  const model = createModel(cluster.key, random, { marginMs: hiddenEarlyMsMax });
  const [other, ,] = await Promise.all([cluster.start('api'), cluster.start('worker')]);
  let killed = await cluster.start('api');
  let cutOff = 0;

  for (let round = 1; round <= rounds; round += 1) {
    const at = `round ${round}, STRONGROOM_CRASH_SEED=${seed}`;
    const load = Promise.all(Array.from({ length: callers }, () => model.caller(killed.address)));
    await answered(model, load, 20 + random.below(300));
    await wait(random.below(30));
    expect(await killed.stop('SIGKILL'), at).toMatchObject({ signal: 'SIGKILL', stderr: '' });
    await load;
    const starting = round < rounds ? cluster.start('api') : null;

    const left = await lookInto(servers, cluster);
    expect(left.endedAliveOf(model.deleted()), `deletes answered and not carried out; ${at}`).toEqual([]);
    cutOff += left.endedAlive.length;
    await caughtUp(other);
    await allErased(servers, cluster);
    const check = round < rounds ? model.checkTokens : model.check;
    expect(await check(other.address), at).toEqual([]);
    if (starting !== null) killed = await starting;
  }
  console.log(`acknowledged ${JSON.stringify(model.acknowledged)}; keys that a kill left alive: ${cutOff}`);
});
