import { expect, test } from 'vitest';
import { attributesOf, client, startCollector } from '../support/collector.js';
import { http, startService } from '../support/process.js';
import { vaultOnServers } from './rebuild/support.js';

test('a span for a store call names the server that the call goes to', async () => {
  const { options, key } = await vaultOnServers();
  const collector = await startCollector();
  const env = {
    ...options.env,
    STRONGROOM_TRACING_ENDPOINT: collector.endpoint,
    STRONGROOM_RATE_LIMIT_REQUESTS: '1000',
  };
  const service = await startService(['--role', 'api'], { ...options, env });
  const body = { type: 'token', data: 'Marker8642' };
  const created = await http('POST', `${service.address}/tokens`, { key, body });
  expect(created.status).toBe(201);
  const url = `${service.address}/tokens/${created.body['id']}`;
  expect((await http('GET', url, { key })).status).toBe(200);
  expect((await http('GET', `${url}/history`, { key })).status).toBe(200);
  expect(await service.stop()).toMatchObject({ code: 0, stderr: '' });

  const calls = collector.spans().filter(({ kind }) => kind === client);
  const systems = new Map(calls.map((span) => [span.name, attributesOf(span)['db.system.name']]));
  expect(Object.fromEntries(systems)).toMatchObject({
    'rows.get': 'mongodb',
    'keys.use': 'mongodb',
    'work.commit': 'mongodb',
    'access_log.record': 'mongodb',
    'rate_limits.use': 'redis',
  });
  expect(new Set(calls.filter(({ name }) => name.startsWith('log.')).map((span) => systems.get(span.name)))).toEqual(
    new Set(['eventstoredb']),
  );
  for (const secret of ['Marker8642', key, String(created.body['id'])]) expect(collector.text()).not.toContain(secret);
});
