import { expect, test } from 'vitest';
import { KeyLost } from '#src/vault/key-lost.js';
import { profile } from '../../support/profile.js';
import { createPlain } from '../routes/support.js';
import { startWithAdmin } from './support.js';

const isCluster = profile === 'cluster';
// In the cluster profile, a worker follows the log. No worker runs in this test, so the gap can have any value.
const gap = isCluster ? expect.any(Number) : 0;
const projections = [
  { name: 'tokens', gap },
  { name: 'directory', gap },
  { name: 'shredder', gap: expect.any(Number) },
];
const stores = isCluster ? ['eventstoredb', 'mongodb', 'redis'] : ['vault.db', 'keys.db'];

test('a ready service reports each store and the gap of each projection', async () => {
  const { service, ask } = await startWithAdmin();
  const before = (await ask('/health/ready')).json();
  expect(before).toEqual({
    status: 'ready',
    reasons: [],
    notices: [],
    projections,
    stores: [...stores, 'access log'].map((name) => ({ name, state: 'up' })),
  });
  await createPlain(service);
  const gapNow = async () => (await ask('/health/ready')).json().projections[2].gap;
  // In the cluster profile, the health report can be up to one second old.
  await expect.poll(gapNow).toBe(before.projections[2].gap + 1);
  await service.service.sweep.run();
  expect((await ask('/health/live')).json()).toEqual({ status: 'live' });
});

test('a lost key is named on the admin listener, and the public listener shows only that the service is not ready', async () => {
  const { service, ask } = await startWithAdmin();
  service.service.reportError(new KeyLost('token-1', 'key_missing'));
  const ready = await ask('/health/ready');
  expect(ready.statusCode).toBe(503);
  expect(ready.json()).toMatchObject({ status: 'not_ready', reasons: ['token keys are lost'] });
  const shown = await service.call('GET', '/health/ready');
  expect(shown).toMatchObject({ status: 503, body: { status: 'not_ready' }, headers: { 'retry-after': '1' } });
  expect(Object.keys(shown.body)).toEqual(['status']);
});

test('a store that does not respond is down, and its gaps are unknown', async () => {
  const { service, ask } = await startWithAdmin();
  // EventStoreDB is left out, because its client reconnects if it is used after it has been closed.
  const needed = isCluster ? ['MongoDB'] : stores;
  await service.service.close();
  const ready = await ask('/health/ready');
  expect(ready.statusCode).toBe(503);
  expect(ready.json()).toMatchObject({
    status: 'not_ready',
    reasons: needed.map((name) => `${name} is unavailable`),
    stores: [
      ...stores.map((name) => ({ name, state: name === 'eventstoredb' ? 'up' : 'down' })),
      { name: 'access log' },
    ],
    projections: [{ gap: null }, { gap: null }, { gap: null }],
  });
  expect((await ask('/metrics')).body).toContain('strongroom_ready 0\n');
});

test('on loopback, a page of another site cannot read the listener through its own host name', async () => {
  const { ask } = await startWithAdmin();
  for (const path of ['/metrics', '/health/ready', '/health/live', '/none']) {
    for (const host of ['evil.example', 'evil.example:9464', 'localhost.evil.example', '127.0.0.1.evil.example']) {
      const { statusCode, body } = await ask(path, host);
      expect([statusCode, body], `${host}${path}`).toEqual([421, '{"status":421}']);
    }
  }
  // Prometheus and probes use an address, or connect through a tunnel to localhost.
  for (const host of ['127.0.0.1:9464', 'localhost:9464', 'LOCALHOST', '[::1]:9464', '10.0.0.7:9464', '']) {
    expect((await ask('/metrics', host)).statusCode, host).toBe(200);
  }
});

test('on other addresses, Prometheus may use the name of a service or a pod', async () => {
  const { ask } = await startWithAdmin({ onLoopback: false });
  for (const host of ['strongroom-admin:9464', 'strongroom-0.strongroom-admin.vault.svc.cluster.local', '10.0.0.7']) {
    expect((await ask('/metrics', host)).statusCode, host).toBe(200);
  }
});
