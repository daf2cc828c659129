import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAuthenticate } from '#src/vault/authenticate.js';
import { createKnownCallers } from '#src/vault/known-callers.js';
import { startTestService } from '../support/test-service.js';

let service: Awaited<ReturnType<typeof startTestService>>;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

test('a cached caller is looked up again after a second, even if the clock was set back', async () => {
  const { vault, clock, key } = service;
  let lookUps = 0;
  const directory: typeof vault.directory = {
    ...vault.directory,
    byKeyHash(hash) {
      lookUps += 1;
      return vault.directory.byKeyHash(hash);
    },
  };
  const { authenticate } = createAuthenticate({ ...vault, directory, knownCallers: createKnownCallers() });
  expect(await authenticate(key)).not.toBeNull();
  clock.step(-600_000);
  clock.advance(999);
  expect(await authenticate(key)).not.toBeNull();
  expect(lookUps).toBe(1);
  clock.advance(1);
  expect(await authenticate(key)).not.toBeNull();
  expect(lookUps).toBe(2);
});
