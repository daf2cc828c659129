import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { openTrace, pendingTrace, sealPending, sealTogether } from '#src/events/sealing/trace-ciphertext.js';

const audit = randomBytes(32);
const place = { tenantId: 'tenant', stream: 'access-log', revision: 0 };
const visitor = { name: 'Ada', issuer: null, reason: 'a refund' };

function pendingOf(traceId: string, of: typeof visitor | null = null) {
  return pendingTrace({ audit, traceEpoch: () => 7 }, { traceId, visitor: of });
}

test('each of several traces in a ciphertext can be opened by its index', () => {
  const box = sealTogether([pendingOf('one'), pendingOf('two', visitor), pendingOf('["three"]')], place);
  expect(openTrace(audit, box, place, 0)).toEqual({ traceId: 'one', visitor: null });
  expect(openTrace(audit, box, place, 1)).toEqual({ traceId: 'two', visitor });
  expect(openTrace(audit, box, { ...place, tenantId: 'other' }, 0)).toBeNull();
  expect(openTrace(randomBytes(32), box, place, 0)).toBeNull();
});

test('an index that an attacker changed, added or removed opens nothing else, and causes no error', () => {
  const several = sealTogether([pendingOf('one'), pendingOf('two')], place);
  for (const index of [null, 2, -1, 0.5]) expect(openTrace(audit, several, place, index)).toBeNull();
  const boxes = [pendingOf('one'), pendingOf('one', { ...visitor, name: '[Ada' })].map((one) =>
    sealPending(one, place),
  );
  for (const box of boxes) for (const index of [0, 1, 2, 9]) expect(openTrace(audit, box, place, index)).toBeNull();
});
