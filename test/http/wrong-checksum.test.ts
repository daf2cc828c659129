import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { newApiKey } from '#src/domain/tenancy/api-key.js';
import { startTestService } from '../support/test-service.js';

test('a key with a wrong checksum returns 401 without a lookup, even if the store is unavailable', async () => {
  const service = await startTestService();
  const wellFormed = newApiKey('private', (maxExclusive) => randomBytes(1).readUInt8() % maxExclusive);
  const mistyped = Array.from({ length: 6 }, (_, index) => {
    const at = wellFormed.length - 6 + index;
    return wellFormed.slice(0, at) + (wellFormed[at] === 'A' ? 'B' : 'A') + wellFormed.slice(at + 1);
  });
  await service.service.close();
  const ask = async (key: string) => (await service.call('GET', '/tokens/x', undefined, { key })).status;
  try {
    for (const key of mistyped) expect(await ask(key), key).toBe(401);
    expect(await ask(wellFormed), 'one that must be looked up').toBeGreaterThanOrEqual(500);
  } finally {
    await service.app.close();
  }
});
