import { setTimeout as wait } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { expect, test } from 'vitest';
import { chance, createModel, hiddenEarlyMsMax } from '../../crash/model.js';
import { http, until } from '../../support/process.js';
import { answered } from './answered.js';
import { allErased, lookInto } from './look-into.js';
import { caughtUp, database, type Member, ownCluster } from './own-cluster.js';
import { type OwnServers, ownServers } from './own-servers.js';

const seed = Number(process.env['STRONGROOM_CRASH_SEED'] ?? 7);
/** A new leader must take over from a killed leader within this time. */
const replacedWithinMs = 15_000;

test('a leader killed during a batch is replaced, and a paused leader that resumes does no harm', {
  timeout: 600_000,
}, async () => {
  const servers = await ownServers();
  const cluster = await ownCluster(servers);
  const { key } = cluster;
  const model = createModel(key, chance(seed), { marginMs: hiddenEarlyMsMax });
  const [api, first] = await Promise.all([cluster.start('api'), cluster.start('worker')]);
  const leadOfFirst = await nextLead(servers, null);
  const second = await cluster.start('worker');
  const url = `${api.address}/tokens`;
  const load = new AbortController();
  const callers = Promise.all(Array.from({ length: 6 }, () => model.caller(api.address, load.signal)));
  await answered(model, callers, 100);

  await first.stop('SIGKILL');
  const killedAt = performance.now();
  const leadOfSecond = await nextLead(servers, leadOfFirst);
  const replacedMs = Math.round(performance.now() - killedAt);
  load.abort();
  await callers;
  await caughtUp(api);
  await allErased(servers, cluster);
  expect(await model.checkTokens(api.address)).toEqual([]);

  // This time, the leader is paused. When it resumes, it still believes that it is the leader, and continues work that
  // the next leader has already done.
  const third = await cluster.start('worker');
  const again = new AbortController();
  const more = Promise.all(Array.from({ length: 6 }, () => model.caller(api.address, again.signal)));
  await answered(model, more, 100);
  second.signal('SIGSTOP');
  const stoppedAt = performance.now();
  await nextLead(servers, leadOfSecond);
  const passedOnMs = Math.round(performance.now() - stoppedAt);
  const brief = { id: 'brief', type: 'token', data: 'v', expires_at: new Date(Date.now() + 3_000).toISOString() };
  expect(await http('POST', url, { key, body: brief })).toMatchObject({ status: 201 });
  second.signal('SIGCONT');
  await wait(4_000);
  again.abort();
  await more;
  await caughtUp(api);
  await until('the recorded expiry', 60_000, async () =>
    (await lookInto(servers, cluster)).events('brief', 'token.expired').length > 0 ? true : undefined,
  );
  await allErased(servers, cluster);
  const seen = await lookInto(servers, cluster);
  expect(seen.events('brief', 'token.expired')).toHaveLength(1);
  expect(await model.check(api.address)).toEqual([]);
  expect(await second.stop(), 'the leader that slept').toMatchObject({ code: 0, stderr: '' });

  // The API process reports whether a worker leads, because it is the only process left if all workers are gone.
  await until('a leader in the metrics', replacedWithinMs, () => leads(api, 1));
  await third.stop('SIGKILL');
  await until('no leader in the metrics', replacedWithinMs, () => leads(api, 0));
  console.log(`a killed leader was replaced after ${replacedMs} ms, a stopped one after ${passedOnMs} ms`);
});

async function leads({ admin }: Member, leaders: 0 | 1): Promise<true | undefined> {
  const { text } = await http('GET', `${admin}/metrics`);
  return text.includes(`\nstrongroom_leader ${leaders}\n`) || undefined;
}

/** Waits for a leader whose epoch is not `after`, and returns its epoch. */
async function nextLead({ mongoUrl }: OwnServers, after: number | null): Promise<number> {
  const client = new MongoClient(mongoUrl);
  try {
    return await until('another leader', replacedWithinMs, async () => {
      const lead = await client
        .db(database)
        .collection('checkpoints')
        .findOne({ holder: { $ne: null } });
      const epoch = lead === null ? null : Number(lead['epoch']);
      return epoch === null || epoch === after ? undefined : epoch;
    });
  } finally {
    await client.close();
  }
}
