import { expect, test } from 'vitest';
import { createMemoryBudget } from '#src/http/load/memory-budget.js';
import { createShares } from '#src/http/load/shares.js';

const stays = (): boolean => false;

test('without other tenants, a tenant runs as many requests as it sends', () => {
  const shares = createShares();
  for (let i = 0; i < 100; i += 1) expect(shares.enter('a', stays)).toBeUndefined();
});

test('if another tenant is active, a tenant runs four requests, and the next one when one of them ends', async () => {
  const shares = createShares();
  expect(shares.enter('b', stays)).toBeUndefined();
  for (let i = 0; i < 4; i += 1) expect(shares.enter('a', stays)).toBeUndefined();
  const fifth = shares.enter('a', stays);
  const sixth = shares.enter('a', () => true);
  const seventh = shares.enter('a', stays);
  expect(fifth).toBeInstanceOf(Promise);
  expect(sixth).toBeInstanceOf(Promise);
  expect(shares.enter('b', stays)).toBeUndefined();
  shares.leave('a');
  await fifth;
  // The sixth request does not run, because its caller has disconnected. The seventh request runs instead.
  shares.leave('a');
  await seventh;
});

test('a tenant gets a quarter of the memory, and waits only for its own requests', async () => {
  const memory = createMemoryBudget(400);
  await memory.take('a', 60, stays);
  await memory.take('a', 40, stays);
  let entered = false;
  const waiting = memory.take('a', 10, stays).then(() => {
    entered = true;
  });
  await memory.take('b', 100, stays);
  expect(entered).toBe(false);
  memory.give('a', 40);
  await waiting;
  expect(entered).toBe(true);
});

test('the requests of a tenant get memory in order of arrival, so small ones do not overtake a large one', async () => {
  const memory = createMemoryBudget(400);
  await memory.take('a', 60, stays);
  const order: string[] = [];
  const large = memory.take('a', 100, stays).then(() => order.push('large'));
  const small = memory.take('a', 10, stays).then(() => order.push('small'));
  memory.give('a', 60);
  await large;
  memory.give('a', 100);
  await small;
  expect(order).toEqual(['large', 'small']);
});

test('a request larger than a tenant’s share runs if it is the tenant’s only one, and the total is never exceeded', async () => {
  const memory = createMemoryBudget(400);
  await memory.take('a', 300, stays);
  expect(memory.isFull('a')).toBe(true);
  let entered = false;
  const waiting = memory.take('b', 150, stays).then(() => {
    entered = true;
  });
  await memory.take('c', 100, stays);
  expect(entered).toBe(false);
  memory.give('a', 300);
  await waiting;
  expect(memory.isFull('a')).toBe(false);
});

test('tenants whose requests wait for memory take turns', async () => {
  const memory = createMemoryBudget(400);
  for (const tenant of ['c', 'd', 'e', 'f']) await memory.take(tenant, 100, stays);
  const order: string[] = [];
  const waiting = ['a', 'a', 'b'].map((tenant) => memory.take(tenant, 50, stays).then(() => order.push(tenant)));
  for (const tenant of ['c', 'd', 'e']) memory.give(tenant, 50);
  await Promise.all(waiting);
  expect(order).toEqual(['a', 'b', 'a']);
});

test('no request gets memory while responses of all tenants together take more than there is', () => {
  const memory = createMemoryBudget(400);
  for (const tenant of ['b', 'c', 'd', 'e']) memory.add(tenant, 100);
  expect(memory.isFull('a')).toBe(false);
  memory.add('f', 1);
  expect(memory.isFull('a')).toBe(true);
});

test('a request that has to wait for memory for five seconds returns 503 with Retry-After', async () => {
  const memory = createMemoryBudget(400);
  await memory.take('a', 100, stays);
  await expect(memory.take('a', 10, stays)).rejects.toMatchObject({ code: 'overloaded', retryAfterMs: 2_000 });
  memory.give('a', 100);
  await memory.take('a', 100, stays);
});

test('a request whose caller has disconnected takes no memory', async () => {
  const memory = createMemoryBudget(400);
  await memory.take('a', 100, stays);
  const left = memory.take('a', 90, () => true).catch(() => 'rejected');
  const next = memory.take('a', 100, stays);
  memory.give('a', 100);
  await next;
  expect(await left).toBe('rejected');
});
