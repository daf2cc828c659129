import { expect, test } from 'vitest';
import { startTestService } from '../support/test-service.js';
import { create, found, loaded } from './load.js';
import { endOfRebuild, rebuildTokens } from './support.js';

test('under load, no read, list or search is wrong or incomplete during repeated rebuilds', async () => {
  const service = await startTestService();
  const { call } = service;
  const before = await Promise.all(Array.from({ length: 40 }, () => create(call, 'before')));
  const ids = before.map(({ id }) => id).sort();
  let going = true;
  const callers = ['a', 'b', 'c'].map((group) => loaded(call, group, () => going));
  const looker = (async () => {
    while (going) expect(await found(call, 'metadata.group:before')).toEqual({ ids, total: 40 });
  })();
  const load = Promise.all([...callers, looker]);
  const rebuilt = (async () => {
    for (let round = 0; round < 3; round += 1) {
      expect(await rebuildTokens(service)).toEqual({ outcome: 'done', different: 0, examples: [] });
    }
  })();
  // If a caller gets a wrong response, its promise rejects, and the test fails immediately.
  try {
    await Promise.race([rebuilt, load]);
  } finally {
    going = false;
  }
  await rebuilt;
  await load;
  expect(Math.min(...(await Promise.all(callers)))).toBeGreaterThan(0);
  expect(await endOfRebuild(service)).toMatchObject({ outcome: 'done' });
  expect((await service.service.projections.status())[0]).toMatchObject({ generation: 4, state: expect.any(String) });
  expect(service.errors).toEqual([]);
  await service.close();
});
