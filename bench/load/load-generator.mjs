// Sends the requests of one workload in a separate process and measures their durations. A job arrives as a message:
// { work, origins, keys, connections, count, from, stored, fresh }. The result is
// { seconds, p50, p95, p99, longest, bytes }, with durations in ms, or { error }.
import { createHistogram, performance } from 'node:perf_hooks';
import { Client } from 'undici';
import { works } from './requests.mjs';

process.on('message', (job) => {
  run(job).then(
    (result) => process.send(result),
    (error) => process.send({ error: String(error?.stack ?? error) }),
  );
});

/** Runs all requests. Each connection sends a request, waits for the whole response, and sends the next one. */
async function run({ work, origins, keys, connections, count, from, stored, fresh }) {
  const { caller, expect, request } = works[work];
  const key = { 'service-api-key': keys[caller] };
  const latency = createHistogram({ lowest: 1, highest: 60_000_000, figures: 3 });
  const clients = Array.from(
    { length: connections },
    (_, i) => new Client(origins[i % origins.length], { pipelining: 1 }),
  );
  let next = 0;
  let bytes = 0;

  async function ask(client) {
    while (next < count) {
      const i = next++;
      const { headers, ...asked } = request(from + i, { stored, fresh: fresh + i });
      const began = performance.now();
      const answer = await client.request({ ...asked, headers: { ...key, ...headers } });
      const body = await answer.body.bytes();
      latency.record(Math.max(1, Math.round((performance.now() - began) * 1000)));
      bytes += body.length;
      if (answer.statusCode !== expect) {
        throw new Error(`${work} was answered with ${answer.statusCode}: ${Buffer.from(body).toString('utf8')}`);
      }
    }
  }

  try {
    // Connections are opened once and kept, as a client of a service does, so opening them is not part of any request.
    await Promise.all(clients.map(async (client) => (await client.request({ method: 'GET', path: '/' })).body.dump()));
    const began = performance.now();
    await Promise.all(clients.map(ask));
    const seconds = (performance.now() - began) / 1000;
    const [p50, p95, p99] = [50, 95, 99].map((percent) => latency.percentile(percent) / 1000);
    return { seconds, p50, p95, p99, longest: latency.max / 1000, bytes: bytes / count };
  } finally {
    await Promise.all(clients.map((client) => client.destroy()));
  }
}
