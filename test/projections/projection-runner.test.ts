import { expect, onTestFinished, test } from 'vitest';
import { catchUp } from '#src/projections/projection-runner.js';
import { startTestService } from '../support/test-service.js';

test('the runner ends although there is always another event, so that the leader can do its other work', async () => {
  const service = await startTestService();
  onTestFinished(() => service.close());
  const { vault } = service;
  let saved = 0;
  const log: typeof vault.log = {
    ...vault.log,
    async readClear(after, limit) {
      await service.call('POST', '/tokens', { type: 'token', data: 1 });
      return vault.log.readClear(after, limit);
    },
  };
  const seen = await catchUp(
    {
      vault: { ...vault, log },
      rows: {
        write: async () => 'stored',
        revisionsOf: async (streams) => new Map(streams.map((stream) => [stream, Number.MAX_SAFE_INTEGER])),
      },
      directory: { write: async () => 'stale', writeAll: async () => 'stale' },
      checkpoints: {
        lead: async () => null,
        isLed: async () => true,
        resign: async () => undefined,
        position: async () => saved,
        async save(_, position) {
          saved = position;
          return true;
        },
      },
      pendingBatchStreams: async () => new Set(),
    },
    { name: 'tokens', epoch: 1 },
  );
  expect(seen).toBeGreaterThan(0);
  expect(saved).toBe(await vault.log.head());
});
