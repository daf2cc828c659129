import { expect, test } from 'vitest';
import type { Claims } from '#src/ports/claims.js';
import { authenticClaims } from '#src/vault/authentic-claims.js';
import { withClaimMac } from '#src/views/row-mac.js';

const key = Buffer.alloc(32, 7);
const claim = withClaimMac(key, {
  cmd: 'one',
  result: { tokens: [{ stream: 'token-1', createdRevision: 0 }] },
  time: 1,
});
const claims = authenticClaims({ begin: async () => ({ state: 'done', claim }) } as Partial<Claims> as Claims, key);

test('an attacker cannot damage the index of the claims so that a retry gets the result of another request', async () => {
  expect(await claims.begin('one', 0)).toEqual({ state: 'done', result: claim.result });
  await expect(claims.begin('two', 0)).rejects.toThrow('the row of claim two');
});
