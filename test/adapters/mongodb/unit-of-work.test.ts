import { expect, test } from 'vitest';
import { mongoUnitOfWork } from '#src/adapters/mongodb/work/mongo-unit-of-work.js';

type Deps = Parameters<typeof mongoUnitOfWork>[0];

test('if another process undoes a batch after its row was found missing, the token counts as changed', async () => {
  const stored = new Map([['token-shown', 3]]);
  const { follow } = mongoUnitOfWork({
    rows: { revisionsOf: async () => new Map(stored) },
    // The batch is not found, because the other process has just undone it.
    batches: { settlePending: async () => undefined },
    // The other process has appended the deletion.
    project: async (_: string, stream: string) => void stored.set(stream, 1),
  } as object as Deps);
  const seen = [
    { tenantId: 't', stream: 'token-undone', revision: 0 },
    { tenantId: 't', stream: 'token-shown', revision: 3 },
  ];
  expect(await follow(seen)).toEqual(new Set(['token-undone']));
});
