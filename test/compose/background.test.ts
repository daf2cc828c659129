import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBackground } from '#src/compose/cluster/background.js';
import type { Checkpoints } from '#src/ports/checkpoints.js';
import type { DirectoryWriter } from '#src/ports/directory.js';
import type { TokenRowWriter } from '#src/ports/token-rows.js';
import { startTestService } from '../support/test-service.js';

let service: Awaited<ReturnType<typeof startTestService>>;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

test('a page that cannot be projected ends no term, so no checkpoint is signed and the other work continues', async () => {
  const calls: string[] = [];
  const errors: unknown[] = [];
  const recorded = (name: string) => () => {
    const call = async (what: string) => void calls.push(`${name} ${what}`);
    return { start: () => void call('starts'), stop: () => call('stops'), run: async () => 0 };
  };
  const checkpoints: Checkpoints = {
    lead: async (name) => ({ name, epoch: 1 }),
    resign: async () => undefined,
    position: async () => 0,
    save: async () => true,
  };
  const log = {
    ...service.vault.log,
    readClear: () => Promise.reject(new Error('this page cannot be read')),
  };
  const background = createBackground({
    vault: { ...service.vault, log },
    rows: {} as TokenRowWriter,
    directory: {} as DirectoryWriter,
    checkpoints,
    pendingBatchStreams: async () => new Set(),
    sweep: () => ({ ...recorded('sweep')(), dueAt: () => undefined }),
    checkpointer: () => ({ ...recorded('checkpointer')(), run: async () => undefined }),
    webhooks: () => ({ ...recorded('webhooks')(), run: async () => undefined, deliver: async () => undefined }),
    dailyCounting: recorded('counting'),
    mayLead: () => true,
    cleanup: [async () => void calls.push('clears')],
    onError: (error) => void errors.push(error),
  });
  background.start();
  for (let waits = 0; errors.length < 2 && waits < 100; waits += 1) await wait(100);
  expect(errors.map(String)).toEqual(Array.from({ length: 2 }, () => 'Error: this page cannot be read'));
  expect(calls).toEqual(['sweep starts', 'checkpointer starts', 'webhooks starts', 'counting starts', 'clears']);
  await background.stop();
  expect(calls.slice(5)).toEqual(['sweep stops', 'checkpointer stops', 'webhooks stops', 'counting stops']);
});
