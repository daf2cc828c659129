import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { batcher } from '#src/adapters/mongodb/batcher.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';

/** Returns a batcher whose groups do not finish until the test finishes them. */
function heldGroups() {
  const sent: { readonly group: readonly number[]; end(): void; fail(error: Error): void }[] = [];
  const groups = batcher<number, string>(
    (group) =>
      new Promise((resolve, reject) => {
        sent.push({ group, end: () => resolve(group.map((item) => `answer to ${item}`)), fail: reject });
      }),
  );
  return { ...groups, sent, sizes: () => sent.map(({ group }) => group.length) };
}

async function turns(): Promise<void> {
  for (let count = 0; count < 3; count += 1) await turn();
}

test('calls in one turn of the event loop form a group, later calls form the next group, and each call gets its own result', async () => {
  const { add, sent, idle } = heldGroups();
  const first = [add(1), add(2)];
  await turns();
  const second = [add(3), add(4), add(5)];
  let isIdle = false;
  const end = idle().then(() => {
    isIdle = true;
  });
  await turns();
  expect(sent.map(({ group }) => group)).toEqual([[1, 2]]);
  sent[0]?.end();
  expect(await Promise.all(first)).toEqual(['answer to 1', 'answer to 2']);
  await turns();
  expect(sent.map(({ group }) => group)).toEqual([
    [1, 2],
    [3, 4, 5],
  ]);
  expect(isIdle).toBe(false);
  sent[1]?.end();
  expect(await Promise.all(second)).toEqual(['answer to 3', 'answer to 4', 'answer to 5']);
  await end;
});

test('a group has a maximum size, and the remaining calls join the next group', async () => {
  const { add, sent, sizes } = heldGroups();
  const all = Array.from({ length: 130 }, (_, item) => add(item));
  await turns();
  expect(sizes()).toEqual([100]);
  sent[0]?.end();
  await turns();
  expect(sizes()).toEqual([100, 30]);
  sent[1]?.end();
  expect(await Promise.all(all)).toEqual(all.map((_, item) => `answer to ${item}`));
});

test.each([
  ['an unavailable store also fails the calls that wait', new StoreUnavailable('mongodb', 'no_answer'), [[1], [4]]],
  ['any other failure affects only the calls in its group', new Error('a bug'), [[1], [2, 3], [4]]],
])('%s, and later calls succeed', async (_name, failure, groups) => {
  const { add, sent, idle } = heldGroups();
  const outcome = (added: Promise<string>) => added.catch((error: unknown) => error);
  const failing = outcome(add(1));
  await turns();
  const waiting = [outcome(add(2)), outcome(add(3))];
  sent[0]?.fail(failure);
  expect(await failing).toBe(failure);
  await turns();
  sent[1]?.end();
  const spreads = failure instanceof StoreUnavailable;
  expect(await Promise.all(waiting)).toEqual(spreads ? [failure, failure] : ['answer to 2', 'answer to 3']);
  await idle();
  const later = add(4);
  await turns();
  sent.at(-1)?.end();
  expect(await later).toBe('answer to 4');
  expect(sent.map(({ group }) => group)).toEqual(groups);
});
