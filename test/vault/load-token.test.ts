import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { loadToken } from '#src/vault/load-token.js';
import { updatedOften } from './updated-often.js';

// A load that copied the ended keys with each event would reach the time limit of the test.
test('a token that has been updated more than a hundred thousand times is loaded with all its ended keys', {
  timeout: 60_000,
}, async () => {
  const tenantId = randomUUID();
  const { log, events } = updatedOften({ tenantId, stream: `token-${'a'.repeat(63)}`, updates: 160_000 });
  const { state } = await loadToken({ log }, tenantId, `token-${'a'.repeat(63)}`);
  expect(state.revision).toBe(160_000);
  expect(state.ended).toHaveLength(160_000);
  expect(state.ended[159_999]).toEqual({ keyId: events[159_999]?.clear['key'], eventId: events[160_000]?.id });
});

test('a token that keeps the keys of replaced data is loaded with the keys that are left', async () => {
  const tenantId = randomUUID();
  const stream = `token-${'b'.repeat(63)}`;
  const { log, events } = updatedOften({ tenantId, stream, updates: 12_000, kept: 10_000 });
  const { state } = await loadToken({ log }, tenantId, stream);
  expect(state.life?.superseded).toEqual(events.slice(2_000, 12_000).map(({ clear }) => clear['key']));
  expect(state.ended).toHaveLength(2_000);
});
