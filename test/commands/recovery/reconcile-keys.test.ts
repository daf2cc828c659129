import { expect, test } from 'vitest';
import { reconcileKeys } from '#src/commands/recovery/reconcile-keys.js';
import { streamOf } from '../../erasure/support.js';
import { startTestService } from '../../support/test-service.js';

test('a key does not count as lost if the token changes while its key is looked up', async () => {
  const service = await startTestService();
  const { vault } = service;
  await service.call('POST', '/tokens', { type: 'token', id: 'busy', data: 'a' });
  const stream = await streamOf(service, 'busy');
  const change = async (data: string) =>
    expect((await service.call('PATCH', '/tokens/busy', { data })).status).toBe(200);
  let [isListed, isLookedUp] = [false, false];
  const log: typeof vault.log = {
    ...vault.log,
    /** The keys are listed before the log is read. Some keys are created in advance, so one change is not enough. */
    async readClear(...asked) {
      for (let number = 0; !isListed && number < 100; number += 1) await change(`b${number}`);
      isListed = true;
      return vault.log.readClear(...asked);
    },
    async readFrom(...asked) {
      const events = await vault.log.readFrom(...asked);
      // The last read of a token that has many events is that of its newest content.
      const [name, , limit] = asked;
      const isFirst = name === stream && limit === 1 && !isLookedUp;
      if (isFirst) isLookedUp = true;
      if (isFirst) await change('c');
      return events;
    },
  };
  expect((await reconcileKeys({ ...vault, log })).lost).toEqual([]);
  expect(isLookedUp).toBe(true);
  await service.close();
});
