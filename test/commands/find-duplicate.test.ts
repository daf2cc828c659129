import { afterEach, beforeEach, expect, test } from 'vitest';
import { findDuplicate } from '#src/commands/tokens/deduplication.js';
import { typeRules } from '#src/domain/token/types/type-rules.js';
import { fingerprintHash } from '#src/events/tokens/fingerprint.js';
import type { TokenRows } from '#src/ports/token-rows.js';
import type { Vault } from '#src/vault/vault.js';
import { startTestService, type TestService } from '../support/test-service.js';

let service: TestService;
beforeEach(async () => {
  service = await startTestService();
});
afterEach(() => service.close());

/** Looks for a token with the data `sought`. `find` replaces the lookup of its fingerprint. */
async function findSought(find: (found: () => Promise<readonly string[]>) => Promise<readonly string[]>) {
  const { vault, tenantId } = service;
  const created = await service.call('POST', '/tokens', { id: 'one', type: 'token', data: 'sought' });
  const caller = await service.service.authenticate(service.key);
  const keys = await vault.keys.tenantKeys(tenantId);
  if (caller === null || keys === null) throw new Error('the tenant has keys');
  const hash = fingerprintHash(keys.claims, String(created.body['fingerprint']));
  const findByFingerprint: TokenRows['findByFingerprint'] = (...asked) =>
    find(() => vault.rows.findByFingerprint(...asked));
  const finding: Vault = { ...vault, rows: { ...vault.rows, findByFingerprint } };
  const fingerprint_expression = typeRules.token.defaultFingerprintExpression;
  const content = { type: 'token', data: 'sought', metadata: null, fingerprint_expression } as const;
  return findDuplicate(finding, caller, { content, hash, seesContent: true, mustLast: false }, null);
}

async function change(data: string): Promise<void> {
  const patched = await service.call('PATCH', '/tokens/one', { data });
  expect(patched.status, patched.text).toBe(200);
}

test('a token whose value changes and then changes back is not taken for a forgery, and is a duplicate', async () => {
  let lookups = 0;
  const found = await findSought(async (lookUp) => {
    lookups += 1;
    if (lookups === 2) await change('sought');
    const streams = await lookUp();
    if (lookups === 1) await change('another');
    return streams;
  });
  expect(lookups).toBe(2);
  expect(found.token?.open.id).toBe('one');
});

test('a token that is found under the fingerprint of another value, and does not change, is taken for a forgery', async () => {
  let forged: readonly string[] = [];
  const finding = findSought(async (lookUp) => {
    if (forged.length === 0) {
      forged = await lookUp();
      await change('another');
    }
    return forged;
  });
  await expect(finding).rejects.toThrow('is not authentic');
});
