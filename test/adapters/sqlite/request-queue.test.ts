import { expect, test } from 'vitest';
import { packChange } from '#src/adapters/sqlite/writer/packed-change.js';
import type { StoreRequest, WriterRequest } from '#src/adapters/sqlite/writer/protocol.js';
import { createRequestQueue } from '#src/adapters/sqlite/writer/request-queue.js';
import { sealCommit } from '#src/events/commit.js';
import { anEvent, aStream } from '../../contract/support.js';

let lastId = 0;
/** Returns one commit for each letter. Each letter is the id of a tenant. */
function commitsOf(tenants: string): readonly WriterRequest[] {
  return [...tenants].map((tenantId) => {
    const stream = aStream();
    const commit = sealCommit(Buffer.alloc(32), stream, -1, [anEvent({ tenantId })]);
    lastId += 1;
    const write = { stream, expectedRevision: -1, commit, row: null, distinct: null };
    return { id: lastId, operation: 'commit', input: packChange({ writes: [write], claim: null }) };
  });
}

function tenantOf(request: StoreRequest): string {
  if (request.operation !== 'commit') return request.operation;
  return request.input.tenantId ?? '';
}

let now = 0;

function queueOf(...requests: readonly WriterRequest[]) {
  const queue = createRequestQueue(
    ({ operation }) => operation === 'advance_keys',
    () => now,
  );
  for (const request of requests) queue.add(request);
  return queue;
}

/** Takes a group from the queue as the writer thread does. The clock advances by `ms` after each request. */
function takeGroup(queue: ReturnType<typeof queueOf>, ms = 0, receive: () => void = () => undefined): string {
  let taken = '';
  for (const request of queue.takeGroup(receive)) {
    taken += tenantOf(request);
    now += ms;
  }
  return taken;
}

test('tenants take turns, and the commits of one tenant keep their order', () => {
  const commits = commitsOf('aaaab');
  const queue = queueOf(...commits);
  const ids = [...queue.takeGroup(() => undefined)].map(({ id }) => id);
  const [a1, a2, a3, a4, b1] = commits.map(({ id }) => id);
  expect(ids).toEqual([a1, b1, a2, a3, a4]);
  expect(queue.isEmpty()).toBe(true);
});

test('a commit that arrives while another tenant’s group runs comes next, and that group then ends', () => {
  const queue = queueOf(...commitsOf('aaaaaaaaaa'));
  let late = commitsOf('b');
  const taken = takeGroup(queue, 1.5, () => {
    for (const request of late) queue.add(request);
    late = [];
  });
  expect(taken).toBe('ab');
  expect(takeGroup(queue), 'the rest is the next group').toBe('aaaaaaaaa');
});

test('a single tenant’s group contains every waiting commit, however long it takes', () => {
  expect(takeGroup(queueOf(...commitsOf('aaaaaa')), 1)).toBe('aaaaaa');
});

test('a group with commits from several tenants ends after 2 ms', () => {
  const queue = queueOf(...commitsOf('aaaaabbbbb'));
  expect(takeGroup(queue, 1.5)).toBe('ab');
  expect(queue.isEmpty()).toBe(false);
});

test('a group ends after 2 ms if access records wait for its commit, even with a single tenant', () => {
  const record = { month: '2026-01', lines: 'lines', entries: 1, isLast: false };
  const queue = queueOf(...commitsOf('aaaaaa'), { id: -1, operation: 'record_access', input: record });
  expect(takeGroup(queue, 1.5)).toBe('aa');
  queue.takeRecords();
  expect(takeGroup(queue, 1.5), 'nothing waits any more').toBe('aaaa');
});

test('requests without a tenant keep their order, and each other store has its own queue', () => {
  const others: readonly WriterRequest[] = [
    { id: -1, operation: 'forget_claims', input: { notBefore: 0 } },
    { id: -2, operation: 'forget_tombstones', input: { notBefore: 0 } },
    { id: -3, operation: 'truncate_vault', input: null },
    { id: -4, operation: 'advance_keys', input: [] },
  ];
  const queue = queueOf(...others);
  expect(queue.takeTruncations().map(({ id }) => id)).toEqual([-3]);
  expect(queue.takeKeys().map(({ id }) => id)).toEqual([-4]);
  expect(takeGroup(queue)).toBe('forget_claimsforget_tombstones');
  expect(queue.isEmpty()).toBe(true);
});

test('access records are taken in groups of limited size, and no record is split', () => {
  const record = (id: number, entries: number): WriterRequest => ({
    id,
    operation: 'record_access',
    input: { month: '2026-01', lines: 'lines', entries, isLast: false },
  });
  const queue = queueOf(record(1, 1), record(2, 600), record(3, 1_000), record(4, 1), record(5, 1));
  expect(queue.takeRecords().map(({ id }) => id)).toEqual([1, 2]);
  expect(queue.takeRecords().map(({ id }) => id)).toEqual([3]);
  expect(queue.isEmpty()).toBe(false);
  expect(queue.isEmpty(true), 'records are held').toBe(true);
  expect(queue.takeRecords().map(({ id }) => id)).toEqual([4, 5]);
  expect(queue.takeRecords()).toEqual([]);
});
