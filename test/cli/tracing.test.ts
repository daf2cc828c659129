import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { attributesOf, client, failed, type Span, server, startCollector } from '../support/collector.js';
import { http, makeVault, run, startService, until } from '../support/process.js';

test('a request is a span, each store call in the request is a child span, and no span contains an id or a value', async () => {
  const vault = await makeVault();
  const collector = await startCollector();
  const service = await startService(vault.flags, {
    env: { STRONGROOM_TRACING_ENDPOINT: collector.endpoint, OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=ours' },
  });
  const marker = 'Marker7391';
  const body = {
    type: 'token',
    id: `${marker}id`,
    data: `${marker}data`,
    metadata: { [`${marker}key`]: `${marker}m` },
  };
  const call = (method: string, path: string, more: object = {}) =>
    http(method, `${service.address}${path}`, { key: vault.key, ...more });
  const caller = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: `a=${marker}` };
  expect(await call('POST', '/tokens', { body, headers: caller })).toMatchObject({ status: 201 });
  const got = await call('GET', `/tokens/${marker}id?reveal=${marker}q`, { headers: { 'service-trace-id': marker } });
  expect(got.status).toBe(200);
  expect(got.body).toMatchObject({ data: `${marker}data` });
  expect((await call('GET', `/tokens/${marker}other`)).status).toBe(404);
  expect((await call('GET', `/${marker}/none`)).status).toBe(404);
  expect((await call('POST', '/tokens', { body: { type: marker } })).status).toBe(400);
  expect((await http('GET', `${service.address}/health/ready`)).status).toBe(200);
  expect((await http('GET', `${service.address}/tokens`, { key: `${marker}wrong` })).status).toBe(401);
  const unsampled = { traceparent: '00-11111111111111111111111111111111-2222222222222222-00' };
  expect((await call('GET', '/tokens?size=1', { headers: unsampled })).status).toBe(200);
  const ended = await service.stop();
  expect(ended).toMatchObject({ code: 0, stderr: '' });

  const spans = collector.spans();
  const requests = spans.filter(({ kind }) => kind === server);
  expect(requests.map((span) => [span.name, attributesOf(span)['http.response.status_code']])).toEqual([
    ['POST /tokens', 201],
    ['GET /tokens/:id', 200],
    ['GET /tokens/:id', 404],
    ['GET none', 404],
    ['POST /tokens', 400],
    ['GET /tokens', 401],
  ]);
  const [created, read] = requests;
  // The span of the first request continues the caller's trace. The span of every other request starts a new trace.
  expect(created).toMatchObject({ traceId: '0af7651916cd43dd8448eb211c80319c', parentSpanId: 'b7ad6b7169203331' });
  expect(new Set(requests.map(({ traceId }) => traceId)).size).toBe(requests.length);
  expect(requests.slice(1).filter(({ parentSpanId }) => parentSpanId)).toEqual([]);

  const children = (span: Span | undefined) => spans.filter(({ parentSpanId }) => parentSpanId === span?.spanId);
  expect(children(created).map(({ name }) => name)).toEqual(
    expect.arrayContaining(['directory.byKeyHash', 'keys.create', 'work.commit']),
  );
  expect(children(read).map(({ name }) => name)).toEqual(
    // The data key is cached, so the read does not have to load it from the key store.
    expect.arrayContaining(['rows.get', 'keys.tenantKeys', 'access_log.record']),
  );
  for (const child of children(read)) {
    expect(child).toMatchObject({ kind: client, traceId: read?.traceId });
    expect(attributesOf(child)).toEqual({
      'db.system.name': 'sqlite',
      'db.operation.name': child.name.split('.')[1],
    });
    expect(BigInt(child.startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(read?.startTimeUnixNano ?? 0));
    expect(BigInt(child.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(child.startTimeUnixNano));
  }
  // Every span is either the span of a request or a child of such a span.
  const ids = new Set(requests.map(({ spanId }) => spanId));
  expect(spans.filter(({ kind, parentSpanId }) => kind !== server && !ids.has(parentSpanId ?? ''))).toEqual([]);

  // Every field of the requests contains the marker. Nothing that the collector receives may contain the marker, a key,
  // the tenant's id or the path of the data directory.
  for (const secret of [marker, vault.key, vault.managementKey, vault.tenantId, vault.dataDir]) {
    expect(collector.text()).not.toContain(secret);
  }
  const known = ['http.request.method', 'http.route', 'http.response.status_code', 'error.type'];
  const others = new Set(requests.flatMap(({ attributes }) => attributes.map(({ key }) => key)));
  expect([...others].filter((key) => !known.includes(key))).toEqual([]);
  expect(spans.filter(({ events = [], status }) => events.length > 0 || status.message !== undefined)).toEqual([]);

  expect(collector.headers[0]?.['x-tenant']).toBe('ours');
  // The log line of a request contains the id of the request's trace.
  const lines = ended.stdout.trimEnd().split('\n');
  const line = lines
    .map((text) => JSON.parse(text))
    .find(({ route, status }) => route === '/tokens/:id' && status === 200);
  expect(line.otel_trace_id).toBe(read?.traceId);
});

test('a client that disconnects before it gets a response leaves a failed span without a status', async () => {
  const vault = await makeVault();
  const collector = await startCollector();
  const service = await startService(vault.flags, { env: { STRONGROOM_TRACING_ENDPOINT: collector.endpoint } });
  const { hostname, port } = new URL(service.address);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  const head = `POST /tokens HTTP/1.1\r\nHost: a\r\nService-Api-Key: ${vault.key}\r\nContent-Type: application/json\r\n`;
  await new Promise<void>((resolve) => socket.write(`${head}Content-Length: 100\r\n\r\n{"type":`, () => resolve()));
  // A later request on another connection gets a response. This shows that the service has received the first request.
  expect((await http('GET', `${service.address}/tokens`, { key: vault.key })).status).toBe(200);
  socket.destroy();
  expect((await http('GET', `${service.address}/tokens`, { key: vault.key })).status).toBe(200);
  await service.stop();
  const left = collector.spans().find(({ name }) => name === 'POST /tokens');
  expect(left).toMatchObject({ status: { code: failed } });
  expect(left === undefined ? null : attributesOf(left)).toEqual({
    'http.request.method': 'POST',
    'http.route': '/tokens',
    'error.type': 'client_disconnected',
  });
});

test('without a collector, requests are served, one log line reports that traces were lost, and the service stops in time', async () => {
  const vault = await makeVault();
  const { endpoint, listener } = await startCollector();
  await new Promise((resolve) => listener.close(resolve));
  const service = await startService(vault.flags, { env: { STRONGROOM_TRACING_ENDPOINT: endpoint } });
  expect((await http('GET', `${service.address}/tokens`, { key: vault.key })).status).toBe(200);
  const { code, stdout } = await service.stop();
  expect(code).toBe(0);
  const lost = stdout.split('\n').filter((line) => line.includes('traces were lost'));
  expect(lost.length).toBe(1);
  expect(lost[0]).toContain('"level":"error"');
});

test('a collector that does not respond does not delay a stop', async () => {
  const vault = await makeVault();
  const collector = await startCollector('hangs');
  const service = await startService(vault.flags, { env: { STRONGROOM_TRACING_ENDPOINT: collector.endpoint } });
  expect((await http('GET', `${service.address}/tokens`, { key: vault.key })).status).toBe(200);
  await until('a batch', 30_000, () => (collector.headers.length > 0 ? true : undefined));
  expect((await http('GET', `${service.address}/tokens`, { key: vault.key })).status).toBe(200);
  // The collector still does not respond. If stopping had no time limit, the exporter would wait ten seconds and then
  // retry.
  expect(await service.stop()).toMatchObject({ code: 0, stderr: '' });
});

test('the ratio applies only to traces whose caller made no sampling decision', async () => {
  const vault = await makeVault();
  const collector = await startCollector();
  const env = { STRONGROOM_TRACING_ENDPOINT: collector.endpoint, STRONGROOM_TRACING_SAMPLE_RATIO: '0' };
  const service = await startService(vault.flags, { env });
  const url = `${service.address}/tokens`;
  expect((await http('GET', url, { key: vault.key })).status).toBe(200);
  const headers = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
  expect((await http('GET', url, { key: vault.key, headers })).status).toBe(200);
  const bad = { traceparent: '00-00000000000000000000000000000000-b7ad6b7169203331-01' };
  expect((await http('GET', url, { key: vault.key, headers: bad })).status).toBe(200);
  await service.stop();
  const requests = collector.spans().filter(({ kind }) => kind === server);
  expect(requests.map(({ traceId }) => traceId)).toEqual(['0af7651916cd43dd8448eb211c80319c']);
});

test.each([
  ['STRONGROOM_TRACING_ENDPOINT', 'collector:4318', 'begins with http:// or https://'],
  ['STRONGROOM_TRACING_ENDPOINT', 'http://user:word1234@collector:4318/v1/traces', 'OTEL_EXPORTER_OTLP_HEADERS'],
  ['STRONGROOM_TRACING_SAMPLE_RATIO', '1.5', 'a number from 0 to 1'],
])('%s=%s is rejected with advice', async (name, value, says) => {
  const vault = await makeVault();
  const { code, stderr } = await run(['serve', ...vault.flags], { env: { [name]: value } });
  expect(code).not.toBe(0);
  expect(stderr).toContain(name);
  expect(stderr).toContain(says);
  expect(stderr).not.toContain('word1234');
});

test('the address of the collector is never printed', async () => {
  const env = { STRONGROOM_TRACING_ENDPOINT: 'https://collector.example/v1/traces?key=word5678' };
  const { code, stdout } = await run(['config', 'print'], { env });
  expect(code).toBe(0);
  expect(stdout).toContain('tracing');
  expect(stdout).not.toContain('word5678');
});
