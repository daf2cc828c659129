import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBackground } from '#src/compose/cluster/background.js';
import type { Checkpoints } from '#src/ports/checkpoints.js';
import type { DirectoryWriter } from '#src/ports/directory.js';
import type { TokenRowWriter } from '#src/ports/token-rows.js';
import { until } from '../support/process.js';
import { startTestService } from '../support/test-service.js';

let service: Awaited<ReturnType<typeof startTestService>>;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

/** Creates background work with these changes. By default, this process leads, and the log is empty. */
function backgroundWith(given: Partial<Parameters<typeof createBackground>[0]>): ReturnType<typeof createBackground> {
  return createBackground({
    vault: service.vault,
    rows: { revisionsOf: async () => new Map() } as Partial<TokenRowWriter> as TokenRowWriter,
    directory: {} as DirectoryWriter,
    checkpoints: leading,
    pendingBatchStreams: async () => new Set(),
    jobs: [],
    mayLead: async () => true,
    cleanup: [],
    onError: (error) => expect.unreachable(String(error)),
    ...given,
  });
}

const leading: Checkpoints = {
  lead: async (name) => ({ name, epoch: 1 }),
  isLed: async () => true,
  resign: async () => undefined,
  position: async () => 0,
  save: async () => true,
};

test('a page that cannot be projected ends no term, so no checkpoint is signed and the other work continues', async () => {
  const calls: string[] = [];
  const errors: unknown[] = [];
  const recorded = (name: string) => () => {
    const call = async (what: string) => void calls.push(`${name} ${what}`);
    return { start: () => void call('starts'), stop: () => call('stops') };
  };
  const log = {
    ...service.vault.log,
    readClear: () => Promise.reject(new Error('this page cannot be read')),
  };
  const background = backgroundWith({
    vault: { ...service.vault, log },
    jobs: [recorded('sweep'), recorded('checkpointer')],
    cleanup: [async () => void calls.push('clears')],
    onError: (error) => void errors.push(error),
  });
  background.start();
  await expect.poll(() => errors.length).toBe(2);
  expect(errors.map(String)).toEqual(Array.from({ length: 2 }, () => 'Error: this page cannot be read'));
  expect(calls).toEqual(['sweep starts', 'checkpointer starts', 'clears']);
  await background.stop();
  expect(calls.slice(3)).toEqual(['sweep stops', 'checkpointer stops']);
});

test.each(['runner', 'shredder'])('a stop does not wait until the %s has read a long log', async (reader) => {
  const pages = 1_000;
  const [event] = await service.vault.log.readClear(0, 1);
  if (event === undefined) throw new Error('the log is empty');
  let read = 0;
  const log = {
    ...service.vault.log,
    head: async () => pages,
    async readClear(after: number) {
      read += 1;
      await wait(10);
      // The runner reads the log before the shredder. In the shredder's test, the runner finds its end on page 2.
      const isAtEnd = after >= pages || (reader === 'shredder' && read === 2);
      return isAtEnd ? [] : [{ ...event, stream: 'audit-checkpoints', type: 'audit.checkpoint', position: after + 1 }];
    },
  };
  const keys = { ...service.vault.keys, checkpoint: async () => 0, saveCheckpoint: async () => undefined };
  const checkpoints = { ...leading, position: async () => (read === 0 ? 0 : pages) };
  const background = backgroundWith({ vault: { ...service.vault, log, keys }, checkpoints });
  background.start();
  await expect.poll(() => read).toBeGreaterThanOrEqual(10);
  const before = read;
  await background.stop();
  expect(read - before).toBeLessThanOrEqual(2);
});

test('a renewal that is running during the stop does not take the lease again after the process has given it up', async () => {
  let holder: string | null = null;
  let isSlow = false;
  let respond: (() => void) | null = null;
  const checkpoints: Checkpoints = {
    ...leading,
    async lead(name, by) {
      if (isSlow) await new Promise<void>((resolve) => (respond = resolve));
      holder = by;
      return { name, epoch: 1 };
    },
    async resign() {
      holder = null;
    },
  };
  const log = { ...service.vault.log, readClear: async () => [] };
  const background = backgroundWith({ vault: { ...service.vault, log }, checkpoints });
  background.start();
  await expect.poll(() => holder).not.toBeNull();
  isSlow = true;
  await expect.poll(() => respond).not.toBeNull();
  const stopping = background.stop();
  // Without waiting for the renewal, the stop would end here.
  await Promise.race([stopping, wait(500)]);
  (respond as (() => void) | null)?.();
  await stopping;
  await wait(50);
  expect(holder).toBeNull();
});

test.each(['its clock is no longer trusted', 'the lease cannot be renewed'])(
  'a leader stops its work when %s',
  async (why) => {
    const calls: string[] = [];
    const errors: unknown[] = [];
    let isLeading = true;
    const isTrusted = () => isLeading || why === 'the lease cannot be renewed';
    const background = backgroundWith({
      vault: { ...service.vault, log: { ...service.vault.log, readClear: async () => [] } },
      checkpoints: {
        ...leading,
        async lead(name) {
          if (isTrusted() && !isLeading) throw new Error('the store is down');
          return { name, epoch: 1 };
        },
      },
      jobs: [() => ({ start: () => void calls.push('starts'), stop: async () => void calls.push('stops') })],
      mayLead: async () => isTrusted(),
      onError: (error) => void errors.push(error),
    });
    const after = (count: number) =>
      until('the next call', 30_000, async () => (calls.length < count ? undefined : [...calls]));
    background.start();
    expect(await after(1)).toEqual(['starts']);
    isLeading = false;
    expect(await after(2)).toEqual(['starts', 'stops']);
    await background.stop();
    expect(calls).toEqual(['starts', 'stops']);
  },
);

test('a leader whose job does not stop does not renew its lease meanwhile, and works again later', async () => {
  const calls: string[] = [];
  const errors: unknown[] = [];
  let isLeading = true;
  let isHanging = true;
  const job = (name: string, stop: () => Promise<void>) => () => ({
    start: () => void calls.push(`${name} starts`),
    async stop() {
      calls.push(`${name} stops`);
      await stop();
    },
  });
  const background = backgroundWith({
    vault: { ...service.vault, log: { ...service.vault.log, readClear: async () => [] } },
    checkpoints: {
      ...leading,
      async lead(name) {
        if (!isLeading) {
          isLeading = true;
          return null;
        }
        calls.push('leads');
        return { name, epoch: 1 };
      },
    },
    jobs: [
      job('first', () => (isHanging ? new Promise(() => undefined) : Promise.resolve())),
      job('second', () => Promise.reject(new Error('it cannot stop'))),
      job('third', async () => undefined),
    ],
    onError: (error) => void errors.push(error),
    // Two renewals would fall into this time.
    stopMsMax: 6_000,
  });
  const started = (count: number) =>
    until('the next term', 30_000, async () =>
      calls.filter((call) => call === 'third starts').length < count ? undefined : true,
    );
  background.start();
  await started(1);
  isLeading = false;
  await started(2);
  const end = ['first stops', 'second stops', 'third stops'];
  const term = ['leads', 'first starts', 'second starts', 'third starts'];
  expect(calls.slice(calls.indexOf('first stops'))).toEqual([...end, ...term]);
  expect(errors.map(String)).toEqual(['StoreUnavailable: background work: no_answer', 'Error: it cannot stop']);
  isHanging = false;
  await background.stop();
});
