import { describe, expect } from 'vitest';
import type { Answer, TestService } from '../../support/test-service.js';
import { makeApplication, manage } from './directory-support.js';
import { expectRefusal, test } from './support.js';

type Call = (
  service: TestService,
  options: { key: string | null; headers?: Record<string, string> },
) => Promise<Answer>;

const refused = { status: 401, code: 'unauthenticated' };

/**
 * Tests that a route returns 401 to callers without a valid key. `call` sends a request that would return 415, 400 or
 * 404 with a valid key.
 */
export function refusesStrangers(call: Call): void {
  describe('401 without a valid key, before any other check, and with the same text for every reason', () => {
    test('if the key is missing, malformed, unknown, revoked or expired, has a wrong checksum, or is in another header', async ({
      service,
    }) => {
      const last = service.key.at(-1) === 'A' ? 'B' : 'A';
      const elsewhere = await startedElsewhere();
      const revoked = await makeApplication(service);
      await manage(service, 'DELETE', `/applications/${revoked.id}`);
      const expires_at = new Date(service.clock.now() + 1).toISOString();
      const expired = await makeApplication(service, { expires_at });
      service.clock.advance(1);
      const answers = [
        await expectRefusal(service, () => call(service, { key: null }), refused),
        await expectRefusal(service, () => call(service, { key: '' }), refused),
        await expectRefusal(service, () => call(service, { key: 'password' }), refused),
        await expectRefusal(service, () => call(service, { key: service.key.slice(0, -1) + last }), refused),
        await expectRefusal(service, () => call(service, { key: elsewhere }), refused),
        await expectRefusal(service, () => call(service, { key: revoked.key }), refused),
        await expectRefusal(service, () => call(service, { key: expired.key }), refused),
        await expectRefusal(service, () => call(service, { key: `${service.key}, ${service.key}` }), refused),
        await expectRefusal(service, () => call(service, { key: null, headers: bearer(service.key) }), refused),
      ];
      expect(new Set(answers.map(({ body }) => `${body['title']} ${body['detail']}`)).size).toBe(1);
      for (const { body } of answers) expect(body).not.toHaveProperty('errors');
    });
  });
}

function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}`, 'x-api-key': key };
}

/** Returns a well-formed key that this service has never issued. */
async function startedElsewhere(): Promise<string> {
  const { newApiKey } = await import('#src/domain/tenancy/api-key.js');
  const { randomInt } = await import('node:crypto');
  return newApiKey('private', (maxExclusive) => randomInt(maxExclusive));
}
