import { describe, expect } from 'vitest';
import { createPlain, eventsSince, path, read, test } from '../support.js';

describe('concurrent updates to one token', () => {
  test('lose nothing, even if there are 100', async ({ service }) => {
    const { id } = await createPlain(service, { data: {} });
    const before = await service.eventCount();
    const keys = Array.from({ length: 50 }, (_, i) => `k${i}`);
    const patches = keys.flatMap((key) => [{ metadata: { [key]: key } }, { data: { [key]: key } }]);
    const answers = await Promise.all(patches.map((patch) => service.call('PATCH', path(id), patch)));
    expect(answers.filter(({ status }) => status !== 200).map(({ text }) => text)).toEqual([]);
    expect(new Set(answers.map(({ headers }) => headers['etag'])).size).toBe(100);
    const all = Object.fromEntries(keys.map((key) => [key, key]));
    expect(await read(service, id)).toMatchObject({ data: all, metadata: all });
    expect(await service.eventCount()).toBe(before + 100);
  });

  test('with the same revision in If-Match succeed only once', async ({ service }) => {
    const { id } = await createPlain(service);
    const headers = { 'if-match': '"0"' };
    const sent = Array.from({ length: 20 }, (_, i) => service.call('PATCH', path(id), { data: i }, { headers }));
    const statuses = (await Promise.all(sent)).map(({ status }) => status).sort();
    expect(statuses).toEqual([200, ...Array(19).fill(412)]);
  });

  test('during a delete succeed or get 404, and no token is left', async ({ service }) => {
    const { id } = await createPlain(service);
    const before = await service.eventCount();
    const patches = (count: number) =>
      Array.from({ length: count }, (_, i) => service.call('PATCH', path(id), { data: `new ${i}` }));
    const earlier = patches(10);
    // The delete begins after the first update is stored. If all began together, the delete would often come first.
    await Promise.race(earlier);
    const calls = [service.call('DELETE', path(id)), ...earlier, ...patches(9)];
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses[0]).toBe(204);
    expect(statuses.filter((status) => ![200, 204, 404].includes(status))).toEqual([]);
    expect((await service.call('GET', path(id))).status).toBe(404);
    const events = await eventsSince(service, before);
    expect(events.at(-1)?.type).toBe('token.deleted');
    const updates = events.filter(({ type }) => type === 'token.updated');
    expect(updates.length).toBeGreaterThan(0);
    for (const { clear } of updates) {
      const key = await service.vault.keys.use(service.tenantId, String(clear['key']), () => null);
      expect(key.state).toBe('destroyed');
    }
  });
});
