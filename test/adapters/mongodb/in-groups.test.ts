import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { inGroups } from '#src/adapters/mongodb/in-groups.js';

/** Groups whose sending ends when the test says so. */
function heldGroups() {
  const sent: { readonly group: readonly number[]; end(): void; fail(error: Error): void }[] = [];
  const groups = inGroups<number, string>(
    (group) =>
      new Promise((resolve, reject) => {
        sent.push({ group, end: () => resolve(group.map((item) => `answer to ${item}`)), fail: reject });
      }),
  );
  return { ...groups, sent };
}

test('what comes in one turn goes together, what comes later with the next group, and each gets its own answer', async () => {
  const { add, sent, idle } = heldGroups();
  const first = [add(1), add(2)];
  await turn();
  await turn();
  const second = [add(3), add(4), add(5)];
  await turn();
  expect(sent.map(({ group }) => group)).toEqual([[1, 2]]);
  sent[0]?.end();
  expect(await Promise.all(first)).toEqual(['answer to 1', 'answer to 2']);
  await turn();
  expect(sent.map(({ group }) => group)).toEqual([
    [1, 2],
    [3, 4, 5],
  ]);
  sent[1]?.end();
  expect(await Promise.all(second)).toEqual(['answer to 3', 'answer to 4', 'answer to 5']);
  await idle();
});

test('a group that fails takes with it what waits, and nothing that comes afterwards', async () => {
  const { add, sent, idle } = heldGroups();
  const failing = [add(1)];
  await turn();
  await turn();
  failing.push(add(2), add(3));
  const outcomes = Promise.allSettled(failing);
  sent[0]?.fail(new Error('no answer'));
  for (const outcome of await outcomes) expect(outcome).toMatchObject({ status: 'rejected' });
  await idle();
  const later = add(4);
  await turn();
  await turn();
  expect(sent.map(({ group }) => group)).toEqual([[1], [4]]);
  sent[1]?.end();
  expect(await later).toBe('answer to 4');
});
