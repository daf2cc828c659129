import { expect, onTestFinished, test } from 'vitest';
import { startTestConsole } from '../support/console/console.js';
import { startTestService } from '../support/test-service.js';
import { logs } from './routes/list-logs/support.js';

const proxy = '192.0.2.1';
const card = '4111111111111111';

/** Threat: a proxy passes on what its caller wrote into the header, and the access log keeps it in plaintext. */
test.each([
  ['198.51.100.3', '198.51.100.3'],
  ['198.51.100.3:4711', '198.51.100.3'],
  ['[2001:db8::1]:4711', '2001:db8::1'],
  [`198.51.100.9, ${card}, , 198.51.100.3`, '198.51.100.3'],
  [`fe80::1%${card}`, 'fe80::1'],
  [card, proxy],
  [`${card}:80`, proxy],
  [`[${card}]`, proxy],
  ['=cmd|calc', proxy],
  ['198.51.100.9, unknown', proxy],
  ['', proxy],
])('the access log contains only addresses: %s is recorded as %s', async (forwarded, expected) => {
  const service = await startTestService({ trustedProxies: [proxy] });
  onTestFinished(service.close);
  const options = { address: proxy, headers: { 'x-forwarded-for': forwarded } };
  const { status, body } = await service.call('POST', '/tokens', { type: 'token', data: 'x' }, options);
  expect(status).toBe(201);
  expect(await logs(service, { entity_id: String(body['id']) })).toMatchObject([{ source_address: expected }]);
});

test('the entries of the console contain only addresses', async () => {
  const { service, signIn } = await startTestConsole({ trustedProxies: [proxy] });
  const browser = await signIn();
  const options = { address: proxy, headers: { 'x-forwarded-for': card } };
  expect((await browser.get('/applications', options)).status).toBe(200);
  const [newest] = await logs(service, { entity_type: 'application', operation: 'read' });
  expect(newest).toMatchObject({ source_address: proxy });
});
