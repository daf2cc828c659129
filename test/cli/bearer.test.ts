import { expect, test } from 'vitest';
import { startCollector } from '../support/collector.js';
import { http, makeVault, startService } from '../support/process.js';

test('a key sent as a bearer token appears in no log line, no span and no response', async () => {
  const vault = await makeVault();
  const collector = await startCollector();
  const env = {
    STRONGROOM_AUTH_BEARER: 'true',
    STRONGROOM_LOG_LEVEL: 'trace',
    STRONGROOM_TRACING_ENDPOINT: collector.endpoint,
  };
  const service = await startService(vault.flags, { env });
  const send = (method: string, path: string, headers: Readonly<Record<string, string>>, body?: object) =>
    http(method, `${service.address}${path}`, { headers, ...(body === undefined ? {} : { body }) });
  const good = { authorization: `Bearer ${vault.key}` };
  const wrong = `${vault.key.slice(0, -1)}${vault.key.endsWith('A') ? 'B' : 'A'}`;
  const answers = [
    await send('POST', '/tokens', good, { type: 'token', data: 1 }),
    await send('GET', '/tokens', good),
    await send('GET', '/tokens', { authorization: `Bearer ${wrong}` }),
    await send('GET', '/tokens', { ...good, 'service-api-key': wrong }),
    await send('PUT', '/tokens', good),
    await send('GET', '/nothing', good),
    await send('POST', '/tokens', good, { type: 'none' }),
    await send('GET', '/logs', { authorization: `Bearer ${vault.managementKey}` }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([201, 200, 401, 401, 405, 404, 400, 200]);
  const ended = await service.stop();
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  expect(ended.stdout).toContain('"status":401');
  expect(collector.spans().length).toBeGreaterThan(answers.length);
  const seen = [ended.stdout, collector.text(), ...answers.map(({ text, headers }) => text + JSON.stringify(headers))];
  for (const secret of [vault.key, wrong, vault.managementKey, 'Bearer sr_']) {
    expect(seen.join('\n')).not.toContain(secret);
  }
});
