import { expect, test } from 'vitest';
import { createLiveCount } from '#src/audit/verify/live-count.js';

/** Threat: an attacker removes rows, and the verification expects fewer rows because of a deleted tenant. */
test('the tokens of a deleted tenant are not counted as live, and their later expiry does not hide missing rows', () => {
  const live = createLiveCount();
  for (const tenant of ['kept', 'kept', 'deleted', 'deleted']) live.note({ type: 'token.created', tenant });
  live.note({ type: 'token.deleted', tenant: 'kept' });
  live.note({ type: 'tenant.deleted', tenant: 'deleted' });
  expect(live.total()).toBe(1);
  live.note({ type: 'token.expired', tenant: 'deleted' });
  live.noteEnd({ type: 'token.expired', tenant: 'deleted' });
  expect(live.total()).toBe(1);
});
