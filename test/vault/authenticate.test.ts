import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { createAuthenticate } from '#src/vault/authenticate.js';
import { createKnownCallers } from '#src/vault/known-callers.js';
import { rule, startTestService } from '../support/test-service.js';

const updated = { name: 'renamed', rules: [rule('/', 'redact', ['token:read'])] };
const application = { ...updated, name: 'first', type: 'private' };

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

test.each([
  ['the deletion of an application', 'DELETE', '/applications/ID', undefined, [204, 404]],
  ['the revocation of a key', 'DELETE', '/applications/ID/keys/KEY', undefined, [204, 404]],
  ['an update of an application', 'PUT', '/applications/ID', updated, [200, 200]],
  ['an update of the tenant', 'PUT', '/tenants/self', { name: 'Renamed' }, [200, 200]],
] as const)(
  '%s that is repeated is answered only after all caches of callers have expired',
  async (_, method, path, body, statuses) => {
    const { vault, managementKey: as, call } = service;
    const created = await call('POST', '/applications', application, { key: as });
    expect(created.status, created.text).toBe(201);
    const id = String(created.body['id']);
    const issued = await call('POST', `/applications/${id}/keys`, undefined, { key: as });
    const keyId = String(issued.body['id']);
    const forget = vi.spyOn(vault.knownCallers, 'forget');
    onTestFinished(() => forget.mockRestore());
    for (const [index, status] of statuses.entries()) {
      const answer = await call(method, path.replace('ID', id).replace('KEY', keyId), body, { key: as });
      expect(answer.status, answer.text).toBe(status);
      expect(forget).toHaveBeenCalledTimes(index + 1);
    }
  },
);
