import { expect, test } from 'vitest';
import { mongoUnitOfWork } from '#src/adapters/mongodb/work/mongo-unit-of-work.js';
import { recordedWork } from '#src/audit/access-log/recorded-work.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import type { Change } from '#src/ports/unit-of-work.js';

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

const fail = async () => {
  throw new StoreUnavailable('MongoDB', 'down');
};

/** Commits a change that fails because MongoDB is down. Returns the operations in the access log. */
async function recordedBy(change: Change, stores: object): Promise<readonly string[]> {
  const work = mongoUnitOfWork({
    now: () => 0,
    log: { append: async () => ({ outcome: 'appended', positions: [1] }), readNewest: async () => [] },
    fingerprints: {
      during: (store: (hold: unknown) => unknown) => store(async () => ({ outcome: 'held', held: [] })),
    },
    ...stores,
  } as object as Deps);
  const recorded: string[] = [];
  const recorder = {
    soon: (entries: readonly { operation: string }[]) => recorded.push(...entries.map(operationOf)),
  };
  const { commit } = recordedWork(work, { tenantKeys: async () => null } as never, recorder as never);
  await expect(commit(change)).rejects.toThrow(StoreUnavailable);
  return recorded;
}

for (const failing of ['rows', 'claims'] as const) {
  test(`a change whose event is in the log is recorded, even if MongoDB then fails to store the ${failing}`, async () => {
    const rows = { write: failing === 'rows' ? fail : async () => 'written' };
    const claims = { intend: async () => true, finish: fail };
    expect(await recordedBy(deletion, { rows, claims })).toEqual(['delete']);
  });
}

test('creations of one request whose events are in the log are recorded, even if MongoDB then fails', async () => {
  const [deleted] = deletion.writes;
  const creation = (stream: string) => ({
    ...deleted,
    stream,
    expectedRevision: -1,
    events: [{ ...deleted?.events[0], type: 'token.created' }],
  });
  const change = { writes: [creation('token-one'), creation('token-two')], claim: null } as object as Change;
  const claims = { intend: async () => true };
  const batches = { open: async () => true, finish: fail };
  expect(await recordedBy(change, { claims, batches })).toEqual(['create', 'create']);
});

const operationOf = ({ operation }: { readonly operation: string }) => operation;

const deletion = {
  writes: [
    {
      stream: 'token-one',
      expectedRevision: 0,
      events: [{ type: 'token.deleted', tenantId: 't', time: 0, actorId: 'a', trace: null, clear: {} }],
      row: { of: 'token', view: { tenantId: 't', stream: 'token-one', state: { created: {} } }, index: 'keep' },
      distinct: null,
    },
  ],
  claim: { cmd: 'one' },
} as object as Change;
