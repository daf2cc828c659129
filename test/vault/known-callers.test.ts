import { expect, test } from 'vitest';
import { createKnownCallers, type KnownCaller } from '#src/vault/known-callers.js';

const access = { kind: 'rules', rules: [] } as const;

function known(tenantId = 'tenant'): KnownCaller {
  const tenantSettings = {
    deduplicate_tokens: 'false',
    keep_superseded_data: 'false',
    show_fingerprints: 'false',
  } as const;
  const who = { tenantId, applicationId: 'a', keyId: 'k', applicationType: 'private' } as const;
  const caller = { ...who, access, tenantSettings };
  return { caller, expiresAt: null };
}

test('a caller that was looked up is cached for one second', () => {
  const callers = createKnownCallers();
  callers.lookUp(1_000)('hash', known());
  expect(callers.get('hash', 1_999)).toMatchObject(known());
  expect(callers.get('hash', 2_000)).toBeUndefined();
});

test('a change to a tenant immediately removes that tenant from the cache, and no other tenant', async () => {
  const callers = createKnownCallers();
  callers.lookUp(0)('ours', known());
  callers.lookUp(0)('theirs', known('other'));
  await callers.forget('tenant');
  expect(callers.get('ours', 1)).toBeUndefined();
  expect(callers.get('theirs', 1)).toBeDefined();
});

test('if other processes have caches, a change takes effect when the entries in those caches have expired', async () => {
  const callers = createKnownCallers({ othersToo: true });
  const beganAt = performance.now();
  await callers.forget('tenant');
  expect(performance.now() - beganAt).toBeGreaterThan(1_000);
});

test('a lookup that began before a change does not put the old state back into the cache', async () => {
  const callers = createKnownCallers();
  for (const change of [() => callers.forget('tenant'), () => callers.forgetAll()]) {
    const keep = callers.lookUp(0);
    await change();
    keep('hash', known());
    expect(callers.get('hash', 1)).toBeUndefined();
  }
});

test('at most 10,000 callers are cached, so that many keys do not fill the memory', () => {
  const callers = createKnownCallers();
  const hashes = Array.from({ length: 10_001 }, (_, i) => `hash-${i}`);
  for (const hash of hashes) callers.lookUp(0)(hash, known());
  expect(hashes.filter((hash) => callers.get(hash, 1) !== undefined).length).toBeLessThanOrEqual(10_000);
  expect(callers.get('hash-10000', 1)).toBeDefined();
});
