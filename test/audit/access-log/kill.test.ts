import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { JsonObject } from '#src/domain/json.js';
import { http, makeVault, startService, until } from '../../support/process.js';

const callers = 8;

test('after a kill at any moment, every response with plaintext data has its record, and the chain continues', async () => {
  const vault = await makeVault();
  let service = await startService(vault.flags);
  const created = await http('POST', `${service.address}/tokens`, {
    key: vault.key,
    body: { type: 'token', data: 'value' },
  });
  const id = String(created.body['id']);
  const traces: string[] = [];

  for (const round of [1, 2, 3]) {
    const { address } = service;
    let count = 0;
    const call = async (caller: number): Promise<void> => {
      for (;;) {
        count += 1;
        const trace = `trace-${round}-${caller}-${count}`;
        const headers = { 'service-trace-id': trace };
        const { status } = await http('GET', `${address}/tokens/${id}`, { key: vault.key, headers });
        if (status === 200) traces.push(trace);
      }
    };
    // Killing the service breaks the connections. Each caller stops when its connection breaks.
    const load = Promise.allSettled(Array.from({ length: callers }, (_, caller) => call(caller)));
    await wait(300 + 200 * round);
    await until('some reveals', 60_000, () => traces.length > 10 * round || undefined);
    await service.stop('SIGKILL');
    await load;
    service = await startService(vault.flags);
  }

  const recorded = new Set<unknown>();
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const url = `${service.address}/logs?entity_id=${id}&operation=reveal&size=100&page=${page}`;
    const { body } = await http('GET', url, { key: vault.managementKey });
    pages = Number((body['pagination'] as JsonObject)['total_pages']);
    for (const { trace_id } of body['data'] as JsonObject[]) recorded.add(trace_id);
  }
  expect(traces.length).toBeGreaterThan(30);
  expect(traces.filter((trace) => !recorded.has(trace))).toEqual([]);

  const services = await http('GET', `${service.address}/logs?entity_type=service`, { key: vault.managementKey });
  expect((services.body['data'] as JsonObject[]).map(({ operation }) => operation)).toEqual(Array(4).fill('start'));
  expect(await service.stop()).toMatchObject({ code: 0, stderr: '' });
});
