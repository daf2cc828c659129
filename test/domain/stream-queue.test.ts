import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createStreamQueue } from '#src/domain/stream-queue.js';

const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 4 });

test('commands on overlapping sets of streams never deadlock, and no two commands run on one stream at the same time', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(names, { maxLength: 20 }), async (commands) => {
      const queue = createStreamQueue();
      const busy = new Set<string>();
      const order: number[] = [];
      const ran = commands.map((streams, index) =>
        queue.run(streams, async () => {
          for (const stream of streams) expect(busy.has(stream)).toBe(false);
          for (const stream of streams) busy.add(stream);
          await new Promise(setImmediate);
          for (const stream of streams) busy.delete(stream);
          order.push(index);
          if (index % 3 === 0) throw new Error('a command may fail');
        }),
      );
      expect((await Promise.allSettled(ran)).length).toBe(commands.length);
      for (const stream of ['a', 'b', 'c', 'd']) {
        const turns = order.filter((index) => commands[index]?.some((name) => name === stream));
        expect(turns, 'first come, first served').toEqual([...turns].sort((one, other) => one - other));
      }
    }),
    { numRuns: 50 },
  );
});
