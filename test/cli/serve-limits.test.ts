import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { http, makeVault, startService, until } from '../support/process.js';

const card = { type: 'card', data: { number: '4242424242424242', cvc: '123' } };

test('a cvc is kept as long as the setting says, which ends it for good', async () => {
  const { flags, key } = await makeVault();
  const env = { STRONGROOM_CVC_RETENTION_SECONDS: '2' };
  const { address } = await startService(flags, { env });
  const created = await http('POST', `${address}/tokens`, { key, body: card });
  expect(created.body['data']).toEqual({ number: '4242424242424242', cvc: '123' });
  const url = `${address}/tokens/${created.body['id']}`;
  await until('the end of the cvc', 20_000, async () => {
    const { text } = await http('GET', url, { key });
    return text.includes('"123"') ? undefined : true;
  });
  const history = await until('the record of it', 60_000, async () => {
    const { text } = await http('GET', `${url}/history`, { key });
    return text.includes('token.property.expired') ? text : undefined;
  });
  expect(history).toContain('"cvc"');
});

test('a request that never ends holds up the stop for ten seconds and not longer, and the stop is recorded', async () => {
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
  await until('100 Continue', 20_000, () => (answer.includes('100 Continue') ? true : undefined));
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
