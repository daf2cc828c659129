import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { loadToken, loadTokenBefore } from '#src/vault/load-token.js';
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

test.each([3, 20, 150])(
  'a token as it was before revision %i contains nothing later, even if later events do not end the fold again',
  async (end) => {
    const tenantId = randomUUID();
    const stream = `token-${'c'.repeat(63)}`;
    const { log, events } = updatedOften({ tenantId, stream, updates: 200 });
    const { state } = await loadTokenBefore({ log }, tenantId, stream, ({ revision }) => revision === end);
    expect(state.revision).toBe(end - 1);
    expect(state.life?.key).toBe(events[end - 1]?.clear['key']);
    expect(state.ended).toHaveLength(end - 1);
  },
);
