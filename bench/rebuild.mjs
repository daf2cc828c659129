// What a rebuild of the rows costs those who read meanwhile: p99 of gets at rest and throughout a rebuild, on the embedded
// profile. Builds its own vault. Usage: npm run build && node bench/rebuild.mjs [tokens, default 100000]

import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTenant } from '../dist/commands/directory/create-tenant.js';
import { openEmbedded } from '../dist/compose/embedded.js';
import { tokenPermissions } from '../dist/domain/access/permission.js';
import { createApp } from '../dist/http/app.js';

const tokens = Number(process.argv[2] ?? 100_000);
const dataDir = mkdtempSync(join(tmpdir(), 'strongroom-bench-'));
const fail = (error) => {
  throw error;
};
const service = await openEmbedded({
  ...{ dataDir, rootKey: randomBytes(32), mode: 'any', cvcRetentionMs: 3_600_000, keptMs: 0 },
  ...{ onError: fail, onBroken: fail },
});
const rules = [{ description: '', priority: 1, container: '/', transform: 'reveal', permissions: tokenPermissions }];
const access = { kind: 'rules', rules };
const made = await createTenant(service.vault, 'bench', [{ name: 'all', type: 'private', access, expiresAt: null }]);
const key = made.keys[0].reveal();
const app = createApp(service, {
  headerNames: { apiKey: ['service-api-key'], traceId: ['service-trace-id'], idempotencyKey: ['idempotency-key'] },
  ...{ corsOrigins: [], trustedProxies: [], tls: null, log: { request: () => undefined, error: () => undefined } },
});
const address = await app.listen({ port: 0, host: '127.0.0.1' });
const headers = { 'service-api-key': key, 'content-type': 'application/json' };

const createOne = async (n) => {
  const metadata = { group: `g${n % 100}`, place: `p${n % 1000}` };
  const body = JSON.stringify({ id: `id-${n}`, type: 'token', data: `value ${n}`, metadata });
  await app.inject({ method: 'POST', url: '/tokens', headers, payload: body });
};
const startedAt = performance.now();
for (let first = 0; first < tokens; first += 256) {
  await Promise.all(Array.from({ length: Math.min(256, tokens - first) }, (_, i) => createOne(first + i)));
}
console.log(`${tokens} tokens made in ${Math.round((performance.now() - startedAt) / 1_000)} s`);

/** Gets one after the other by two callers until `goesOn` says no; their times in milliseconds, sorted. */
const gets = async (goesOn) => {
  const times = [];
  const caller = async () => {
    while (goesOn()) {
      const id = `id-${Math.floor(Math.random() * tokens)}`;
      const at = performance.now();
      const answer = await fetch(`${address}/tokens/${id}`, { headers });
      await answer.text();
      if (answer.status !== 200) throw new Error(`${id}: ${answer.status}`);
      times.push(performance.now() - at);
    }
  };
  await Promise.all([caller(), caller()]);
  return times.sort((a, b) => a - b);
};
const show = (what, times) => {
  const at = (share) => times[Math.floor(times.length * share)].toFixed(2);
  console.log(`${what}: ${times.length} gets, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, p99.9 ${at(0.999)} ms`);
};

const until = performance.now() + 15_000;
await gets(() => performance.now() < until - 10_000);
show('at rest', await gets(() => performance.now() < until));
const beganAt = performance.now();
await service.projections.rebuild('tokens', false);
let isGoing = true;
const meanwhile = gets(() => isGoing);
for (;;) {
  const [status] = await service.projections.status();
  if (status.rebuild === null) {
    console.log(
      `rebuilt in ${Math.round((performance.now() - beganAt) / 1_000)} s: ${JSON.stringify(status.lastRebuild)}`,
    );
    break;
  }
  await new Promise((resolve) => setTimeout(resolve, 200));
}
isGoing = false;
show('during the rebuild', await meanwhile);
const later = performance.now() + 10_000;
show('at rest again', await gets(() => performance.now() < later));
await app.close();
await service.close();
rmSync(dataDir, { recursive: true });
