import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { http, makeVault, startService, until } from '../support/process.js';

const card = { type: 'card', data: { number: '4242424242424242', cvc: '123' } };

test('a cvc is kept for as long as the setting says, and is then erased', async () => {
  const { flags, key } = await makeVault();
  const env = { STRONGROOM_CVC_RETENTION_SECONDS: '2' };
  const { address } = await startService(flags, { env });
  const created = await http('POST', `${address}/tokens`, { key, body: card });
  expect(created.body['data']).toEqual({ number: '4242424242424242', cvc: '123' });
  const url = `${address}/tokens/${created.body['id']}`;
  await until('the end of the cvc', 30_000, async () => {
    const { text } = await http('GET', url, { key });
    return text.includes('"123"') ? undefined : true;
  });
  const history = await until('the record of it', 60_000, async () => {
    const { text } = await http('GET', `${url}/history`, { key });
    return text.includes('token.property.expired') ? text : undefined;
  });
  expect(history).toContain('"cvc"');
});

test('a request that never ends delays the stop by at most ten seconds, and the stop is recorded', async () => {
  const { flags, key, managementKey } = await makeVault();
  const service = await startService(flags);
  const wire = connect(Number(new URL(service.address).port), '127.0.0.1');
  let answer = '';
  wire.setEncoding('utf8').on('data', (text: string) => {
    answer += text;
  });
  wire.on('error', () => undefined);
  wire.write(
    `POST /tokens HTTP/1.1\r\nHost: x\r\nService-Api-Key: ${key}\r\nContent-Type: application/json\r\n` +
      'Expect: 100-continue\r\nContent-Length: 100\r\n\r\n',
  );
  await until('100 Continue', 30_000, () => (answer.includes('100 Continue') ? true : undefined));
  const since = performance.now();
  expect(await service.stop()).toMatchObject({ code: 0 });
  const tookMs = performance.now() - since;
  expect(tookMs).toBeGreaterThan(8_000);
  expect(tookMs).toBeLessThan(20_000);
  wire.destroy();

  const { address } = await startService(flags);
  const { body } = await http('GET', `${address}/logs?entity_type=service`, { key: managementKey });
  expect(body).toMatchObject({ data: [{ operation: 'start' }, { operation: 'stop' }, { operation: 'start' }] });
});

test('the configured log level, page origins and trusted proxies take effect', async () => {
  const { flags, key, managementKey } = await makeVault();
  const origin = 'https://shop.example';
  const env = { STRONGROOM_LOG_LEVEL: 'fatal', STRONGROOM_HTTP_CORS_ORIGINS: origin };
  const service = await startService([...flags, '--http-trusted-proxies', '127.0.0.1'], { env });
  const url = `${service.address}/tokens`;
  const asked = { origin, 'access-control-request-method': 'POST' };
  const preflight = await http('OPTIONS', url, { headers: asked });
  expect(preflight.headers).toMatchObject({ 'access-control-allow-origin': origin });

  const forwarded = { 'x-forwarded-for': '203.0.113.7' };
  const created = await http('POST', url, { key, headers: forwarded, body: { type: 'token', data: 'x' } });
  expect(created.status).toBe(201);
  const entries = await until('the entry', 30_000, async () => {
    const { body } = await http('GET', `${service.address}/logs?entity_id=${created.body['id']}`, {
      key: managementKey,
    });
    return Array.isArray(body['data']) && body['data'].length > 0 ? body['data'] : undefined;
  });
  expect(entries).toMatchObject([{ operation: 'create', source_address: '203.0.113.7' }]);
  expect(JSON.parse((await service.stop()).stdout)).toMatchObject({ address: service.address });
});

/** Threat: every user of the machine can connect to the debugger, and read the keys in memory. */
test('SIGUSR1 does not open the debugger of Node.js', async () => {
  const { flags, key } = await makeVault();
  const service = await startService(flags);
  service.signal('SIGUSR1');
  expect((await http('GET', `${service.address}/tokens`, { key })).status).toBe(200);
  expect(await service.stop()).toMatchObject({ code: 0, stderr: '' });
});
