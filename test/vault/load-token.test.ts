import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { loadToken } from '#src/vault/load-token.js';
import { updatedOften } from './updated-often.js';

test('a token that has been updated tens of thousands of times is loaded within seconds, with all its ended keys', async () => {
  const tenantId = randomUUID();
  const { log, events } = updatedOften({ tenantId, stream: `token-${'a'.repeat(63)}`, updates: 40_000 });
  const beganAt = performance.now();
  const { state } = await loadToken({ log }, tenantId, `token-${'a'.repeat(63)}`);
  expect(performance.now() - beganAt).toBeLessThan(4_000);
  expect(state.revision).toBe(40_000);
  expect(state.ended).toHaveLength(40_000);
  expect(state.ended[39_999]).toEqual({ keyId: events[39_999]?.clear['key'], eventId: events[40_000]?.id });
});

test('a token that keeps the keys of replaced data is loaded within seconds too, with the keys that are left', async () => {
  const tenantId = randomUUID();
  const stream = `token-${'b'.repeat(63)}`;
  const { log, events } = updatedOften({ tenantId, stream, updates: 40_000, kept: 10_000 });
  const beganAt = performance.now();
  const { state } = await loadToken({ log }, tenantId, stream);
  expect(performance.now() - beganAt).toBeLessThan(4_000);
  expect(state.life?.superseded).toEqual(events.slice(30_000, 40_000).map(({ clear }) => clear['key']));
  expect(state.ended).toHaveLength(30_000);
});
