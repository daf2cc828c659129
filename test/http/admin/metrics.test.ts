import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { profile } from '../../support/profile.js';
import { createPlain, path } from '../routes/support.js';
import { startWithAdmin } from './support.js';

test('the metrics count requests by route template, erased keys and commits, and describe the process', async () => {
  const { service, ask } = await startWithAdmin();
  const { id } = await createPlain(service);
  await service.call('GET', path(id));
  await service.call('DELETE', path(id));
  await service.call('GET', `/nowhere/${id}`);
  const { statusCode, headers, body } = await ask('/metrics');
  expect(statusCode).toBe(200);
  expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  for (const line of [
    'strongroom_http_requests_total{route="/tokens",method="POST",status="201"} 1',
    'strongroom_http_requests_total{route="/tokens/:id",method="GET",status="200"} 1',
    'strongroom_http_requests_total{route="/tokens/:id",method="DELETE",status="204"} 1',
    'strongroom_http_requests_total{route="none",method="GET",status="404"} 1',
    'strongroom_keys_destroyed_total 1',
    'strongroom_ready 1',
    `strongroom_store_up{store="${profile === 'embedded' ? 'keys.db' : 'mongodb'}"} 1`,
  ]) {
    expect(body.split('\n')).toContain(line);
  }
  if (profile === 'embedded') expect(body).toMatch(/^strongroom_group_commit_changes_count [1-9]/m);
  expect(body).toMatch(/^strongroom_projection_gap_events\{projection="shredder"\} \d+$/m);
  expect(body).toMatch(/^process_resident_memory_bytes \d+/m);
});

test('no metric contains a token, an application, a tenant or a value', async () => {
  const { service, ask } = await startWithAdmin();
  const { id, tenant_id, created_by, fingerprint } = await createPlain(service, { data: 'value-4711' });
  await service.call('GET', `${path(id)}?q=value-4711`);
  await service.call('GET', `/value-4711`);
  await service.call('GET', path(id), undefined, { key: 'sr_private_value-4711' });
  const { body } = await ask('/metrics');
  for (const secret of [id, tenant_id, created_by, fingerprint, 'value-4711', service.key]) {
    expect(body).not.toContain(String(secret));
  }
});

test('the public listener has no metrics', async () => {
  const { service } = await startWithAdmin();
  expect((await service.call('GET', '/metrics')).status).toBe(404);
});

test('a 404 on the admin listener does not repeat any part of the request', async () => {
  const { ask } = await startWithAdmin();
  const { statusCode, body } = await ask('/value-4711');
  expect(statusCode).toBe(404);
  expect(body).not.toContain('4711');
});

test('a connection with more than 64 unanswered requests is closed, so it cannot block the service', async () => {
  const { admin } = await startWithAdmin();
  await admin.listen({ port: 0, host: '127.0.0.1' });
  const socket = connect((admin.server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  const closed = once(socket, 'close');
  let responses = 0;
  socket.setEncoding('utf8').on('data', (text: string) => {
    responses += text.split('HTTP/1.1 200').length - 1;
  });
  socket.write('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(200));
  await closed;
  expect(responses).toBeLessThan(200);
});
