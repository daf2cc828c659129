import { describe, expect } from 'vitest';
import { makeApplication, makeManager, manage } from './directory-support.js';
import { expectRefusal, test } from './support.js';

const routes = [
  ['POST', '/applications'],
  ['GET', '/applications'],
  ['GET', '/applications/key'],
  ['GET', '/applications/x'],
  ['PUT', '/applications/x'],
  ['DELETE', '/applications/x'],
  ['POST', '/applications/x/keys'],
  ['GET', '/applications/x/keys'],
  ['DELETE', '/applications/x/keys/y'],
  ['GET', '/permissions'],
  ['GET', '/tenants/self'],
  ['PUT', '/tenants/self'],
  ['DELETE', '/tenants/self'],
  ['GET', '/tenants/self/reports/usage'],
  ['GET', '/tokens/x/history'],
] as const;
const unauthenticated = { status: 401, code: 'unauthenticated' };

describe('401 every route of the management API requires a valid key', () => {
  test.for(routes)('%s %s', async ([method, url], { service }) => {
    const revoked = await makeApplication(service);
    await manage(service, 'DELETE', `/applications/${revoked.id}`);
    const unknown = `${service.managementKey.slice(0, -1)}${service.managementKey.endsWith('a') ? 'b' : 'a'}`;
    for (const key of [null, '', 'x', unknown, revoked.key]) {
      await expectRefusal(service, () => service.call(method, url, undefined, { key }), unauthenticated);
    }
  });
});

describe('403 if the application of the key lacks the permission', () => {
  test.for(routes)('%s %s', async ([method, url], { service }) => {
    const anyKey = ['/applications/key', '/permissions'].includes(url);
    const history = url.endsWith('history');
    const { key } = history ? await makeManager(service, ['tenant:read']) : { key: service.key };
    if (anyKey) {
      expect((await service.call(method, url, undefined, { key })).status).toBe(200);
      return;
    }
    const send = () => service.call(method, url, { name: 'x' }, { key });
    await expectRefusal(service, send, { status: 403, code: 'permission_missing' });
  });
});
