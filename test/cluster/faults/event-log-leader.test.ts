import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startStandInCluster } from '../../support/eventstoredb.js';
import { http, until } from '../../support/process.js';
import { ownCluster } from './own-cluster.js';
import { ownServers } from './own-servers.js';

const writerCount = 32;

type Writer = { readonly ids: string[]; lastAt: number; unavailable: number; readonly others: string[] };

test('32 callers get 201 or 503 from one process while the EventStoreDB leader is killed, frozen and moved', {
  timeout: 300_000,
}, async () => {
  const events = await startStandInCluster();
  onTestFinished(events.remove);
  const servers = await ownServers();
  const vault = await ownCluster({ ...servers, eventStore: { ...servers.eventStore, url: events.url } });
  const service = await vault.start('all');
  const { address } = service;

  let isOver = false;
  const writers = Array.from(
    { length: writerCount },
    (): Writer => ({ ids: [], lastAt: 0, unavailable: 0, others: [] }),
  );
  const running = writers.map(async (writer, index) => {
    for (let sequence = 0; !isOver; ) {
      const { status, body, text } = await http('POST', `${address}/tokens`, {
        key: vault.key,
        headers: { 'idempotency-key': `writer-${index}-${sequence}` },
        body: { type: 'token', data: `value ${index} ${sequence}` },
      });
      if (status === 201) {
        writer.ids.push(String(body['id']));
        writer.lastAt = performance.now();
        sequence += 1;
      } else if (status === 503) writer.unavailable += 1;
      else writer.others.push(`${status} ${text}`);
      if (status !== 201) await wait(100);
    }
  });

  /**
   * Makes the next node the leader, and waits until every caller has received a response that came through this leader.
   */
  const next = async (what: string, dead: readonly number[] = []) => {
    const elected = ((events.leader() ?? 0) + 1) % 3;
    events.elect(elected, dead);
    const since = performance.now();
    // On a busy machine, each of the callers waits for many responses to the others.
    await until(`all callers after: ${what}`, 60_000, () =>
      writers.every(({ lastAt }) => lastAt > since) ? true : undefined,
    );
  };

  await wait(1_000);
  const killed = events.leader() ?? 0;
  await events.nodes[killed]?.kill();
  await wait(7_000);
  await next('a kill', [killed]);
  await events.nodes[killed]?.start();

  const frozen = events.leader() ?? 0;
  events.nodes[frozen]?.signal('SIGSTOP');
  await wait(7_000);
  await next('a freeze');
  events.nodes[frozen]?.signal('SIGCONT');

  await next('a move');
  isOver = true;
  await Promise.all(running);

  expect(writers.flatMap(({ others }) => others)).toEqual([]);
  expect(writers.reduce((sum, { unavailable }) => sum + unavailable, 0)).toBeGreaterThan(0);
  const ids = writers.flatMap((writer) => writer.ids);
  expect(new Set(ids).size).toBe(ids.length);
  const missing = [];
  for (const id of ids) {
    const { status } = await http('GET', `${address}/tokens/${id}`, { key: vault.key });
    if (status !== 200) missing.push(id);
  }
  expect(missing).toEqual([]);
  expect((await service.stop()).code).toBe(0);
});
