// Sends the requests of one workload from a separate process, and measures how long they take. It receives a job as a
// message: { work, origins, keys, connections, count, from, stored, fresh }. It replies with { seconds, p50, p95, p99,
// longest, bytes, generator }. Durations are in ms. `bytes` is the mean size of a response body, and `generator` is the
// fraction of one processor that this process used. If the job fails, the reply is { error }.
//
// To keep this process from becoming the bottleneck, all requests are built before the clock starts, and only the
// status and the length of a response are parsed.
import { once } from 'node:events';
import { connect } from 'node:net';
import { createHistogram, performance } from 'node:perf_hooks';
import { works } from './requests.mjs';

process.on('message', (job) => {
  run(job).then(
    (result) => process.send(result),
    (error) => process.send({ error: String(error?.stack ?? error) }),
  );
});

/**
 * Runs all requests. Each connection sends a request, waits for the whole response, and then sends the next request.
 */
async function run({ work, origins, keys, connections, count, from, stored, fresh }) {
  const { caller, expect, bytesMin = 0, request } = works[work];
  const requests = Array.from({ length: count }, (_, i) =>
    bytesOf(request(from + i, { stored, fresh: fresh + i }), keys[caller]),
  );
  const latency = createHistogram({ lowest: 1, highest: 60_000_000, figures: 3 });
  const clients = await Promise.all(
    Array.from({ length: connections }, (_, i) => openConnection(origins[i % origins.length])),
  );
  let next = 0;
  let bytes = 0;

  async function ask(client) {
    while (next < count) {
      const wanted = requests[next++];
      const began = performance.now();
      const response = await client.send(wanted);
      latency.record(Math.max(1, Math.round((performance.now() - began) * 1000)));
      bytes += response.length;
      if (response.status !== expect) {
        throw new Error(`${work} was answered with ${response.status}: ${response.body().toString('utf8')}`);
      }
      if (response.length < bytesMin) {
        throw new Error(`${work} was answered with too little: ${response.body().toString('utf8')}`);
      }
    }
  }

  try {
    const [began, usedBefore] = [performance.now(), process.cpuUsage()];
    await Promise.all(clients.map(ask));
    const seconds = (performance.now() - began) / 1000;
    const { user, system } = process.cpuUsage(usedBefore);
    const [p50, p95, p99] = [50, 95, 99].map((percent) => latency.percentile(percent) / 1000);
    const generator = (user + system) / 1e6 / seconds;
    return { seconds, p50, p95, p99, longest: latency.max / 1000, bytes: bytes / count, generator };
  } finally {
    for (const client of clients) client.close();
  }
}

function bytesOf({ method, path, headers, body = '' }, key) {
  const lines = Object.entries({ host: 'vault', 'service-api-key': key, ...headers }).map((pair) => pair.join(': '));
  if (body !== '') lines.push(`content-length: ${Buffer.byteLength(body)}`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
}

/**
 * Opens a connection that handles one request at a time. `send` resolves to the status of the response, the length of
 * its body, and the body. All connections are opened before the clock starts, because real clients of a service also
 * keep their connections open.
 */
async function openConnection(origin) {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  socket.setNoDelay(true);
  let waiting = null;
  let received = null;
  socket.on('data', (chunk) => {
    received = received === null ? chunk : Buffer.concat([received, chunk]);
    try {
      const response = responseIn(received);
      if (response === null) return;
      received = null;
      waiting.resolve(response);
    } catch (error) {
      waiting.reject(error);
    }
  });
  const fail = (error) => waiting?.reject(error ?? new Error('the server closed a connection'));
  socket.on('error', fail);
  socket.on('close', () => fail());
  await once(socket, 'connect');
  return {
    send: (bytes) =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        socket.write(bytes);
      }),
    close: () => socket.destroy(),
  };
}

/** Returns the response that these bytes contain, or null if the response is not complete yet. */
function responseIn(bytes) {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return null;
  const head = bytes.latin1Slice(0, end);
  const status = Number(head.slice(9, 12));
  const stated = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (stated === undefined && status !== 204) throw new Error(`a response states no length: ${head}`);
  const length = Number(stated ?? 0);
  const size = end + 4 + length;
  if (bytes.length < size) return null;
  if (bytes.length > size) throw new Error('a response is longer than it states');
  return { status, length, body: () => bytes.subarray(end + 4, size) };
}
