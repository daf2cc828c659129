import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createPlain } from '../../http/routes/support.js';
import { endOfRebuild } from '../../rebuild/support.js';
import { startTestService } from '../../support/test-service.js';
import { databasesOf, storedIn } from './support.js';

const tokens = 120;

test('a rebuild canceled at any moment leaves no row, no collection and no key', async () => {
  const service = await startTestService();
  for (let made = 0; made < tokens; made += 20) {
    await Promise.all(Array.from({ length: 20 }, () => createPlain(service)));
  }
  const stores = await databasesOf(service.database ?? '');
  const { projections } = service.service;
  const ends: string[] = [];
  let read = 1;
  for (const delayMs of [0, 5, 15, 30, 60, 100, 150, 250, 400, 700]) {
    await projections.rebuild('tokens', false);
    await wait(delayMs);
    const end = await projections.cancel('tokens');
    ends.push(end);
    await endOfRebuild(service);
    const stored = await storedIn(stores);
    if (end === 'too_late') read = Number(stored.read);
    else expect(stored.rebuild).toBeNull();
    expect(stored, `after ${delayMs} ms: ${end}`).toMatchObject({ read, write: [read], keys: [read] });
    expect(stored.rows).toEqual({ [`token_rows_${read}`]: tokens });
    const list = await service.call('GET', '/tokens?size=1');
    expect(list.body).toMatchObject({ pagination: { total_items: tokens } });
  }
  expect(ends.filter((end) => end === 'cancelled').length, ends.join()).toBeGreaterThan(0);
  expect(await projections.cancel('tokens')).toBe('none');
  expect(service.errors).toEqual([]);
  await service.close();
});
