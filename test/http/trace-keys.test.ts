import { expect, onTestFinished, test } from 'vitest';
import { createTraceUses } from '#src/keys/trace-uses.js';
import { streamOf } from '../erasure/support.js';
import { tempDir } from '../support/process.js';
import { embeddedOnly } from '../support/profile.js';
import { startTestService, type TestService } from '../support/test-service.js';

const usesMax = 8;
const traceLimits = { usesMax, blockSize: 4 };
const everything = { entityType: null, entityRef: null, operation: null, from: 0, to: null };

/** Returns all stored traces from a token's events and from the entries of the access log. */
async function tracesIn({ vault, tenantId }: TestService, stream: string): Promise<Buffer[]> {
  const events = await vault.log.readStream(stream);
  const { entries } = await vault.accessLog.query(tenantId, everything, { offset: 0, limit: 1_000 });
  return [...events, ...entries].flatMap(({ trace }) => (trace === null ? [] : [Buffer.from(trace)]));
}

/** Returns how many different traces each key has sealed. */
function usesByEpoch(traces: readonly Buffer[]): ReadonlyMap<number, number> {
  const uses = new Map<number, Set<string>>();
  for (const trace of traces) {
    const epoch = trace.readUInt32BE(0);
    uses.set(epoch, (uses.get(epoch) ?? new Set()).add(trace.toString('hex')));
  }
  return new Map([...uses].map(([epoch, distinct]) => [epoch, distinct.size]));
}

const traceOf = (index: number) => `trace-${index}`;

async function updateAndRead(service: TestService, id: string, from: number, count: number, as: object = {}) {
  for (let index = from; index < from + count; index += 1) {
    const headers = { 'service-trace-id': traceOf(index) };
    const body = { metadata: { n: String(index) } };
    expect(await service.call('PATCH', `/tokens/${id}`, body, { headers, ...as })).toMatchObject({ status: 200 });
    expect(await service.call('GET', `/tokens/${id}`, undefined, { headers, ...as })).toMatchObject({ status: 200 });
  }
}

test('a key seals no more traces than the limit, counting events and entries together, and older traces stay readable', async () => {
  const service = await startTestService({ traceLimits });
  onTestFinished(service.close);
  const created = await service.call('POST', '/tokens', { id: 'traced', type: 'token', data: 'x' });
  expect(created.status, created.text).toBe(201);
  await updateAndRead(service, 'traced', 0, 20);
  const uses = usesByEpoch(await tracesIn(service, await streamOf(service, 'traced')));
  expect(uses.size).toBeGreaterThanOrEqual(5);
  for (const [epoch, count] of uses) expect(count, `epoch ${epoch}`).toBeLessThanOrEqual(usesMax);

  const history = await service.call('GET', '/tokens/traced/history?size=100');
  const updated = (history.body['data'] as { trace_id?: string }[]).slice(0, 20);
  expect(updated.map(({ trace_id }) => trace_id)).toEqual([...Array(20).keys()].reverse().map(traceOf));
  const logs = await service.call('GET', '/logs?operation=reveal&size=100', undefined, { key: service.managementKey });
  const read = new Set((logs.body['data'] as { trace_id?: string }[]).map(({ trace_id }) => trace_id));
  for (let index = 0; index < 20; index += 1) expect(read).toContain(traceOf(index));
});

test('uses are counted durably: after a restart, counting continues after the uses that were reserved', async (context) => {
  embeddedOnly(context, 'a test service of the cluster is not started again');
  const dataDir = tempDir();
  const first = await startTestService({ dataDir, traceLimits });
  const { key, rootKey, tenantId } = first;
  await first.call('POST', '/tokens', { id: 'traced', type: 'token', data: 'x' });
  const stream = await streamOf(first, 'traced');
  let [service, index] = [first, 0];
  for (let starts = 0; starts < 6; starts += 1) {
    await updateAndRead(service, 'traced', index, 2, { key });
    index += 2;
    await service.stop();
    service = await startTestService({ dataDir, rootKey, traceLimits });
  }
  const uses = usesByEpoch(await tracesIn({ ...service, tenantId }, stream));
  for (const [epoch, count] of uses) expect(count, `epoch ${epoch}`).toBeLessThanOrEqual(usesMax);
  expect(uses.size).toBeGreaterThanOrEqual(3);
  await service.stop();
});

test('uses above the reservation are counted as well, and a reservation that fails is retried', async () => {
  const reserved: number[] = [];
  let fails = false;
  const uses = createTraceUses(
    async (_tenantId, count) => {
      if (fails) throw new Error('the store is down');
      const start = reserved.reduce((sum, size) => sum + size, 0);
      reserved.push(count);
      return start;
    },
    { usesMax: 4, blockSize: 4 },
  );
  const epochs: number[] = [];
  await uses.ready('a');
  fails = true;
  for (let use = 0; use < 6; use += 1) epochs.push(uses.next('a'));
  await expect(uses.ready('a')).rejects.toThrow('the store is down');
  fails = false;
  await uses.ready('a');
  for (let use = 0; use < 2; use += 1) epochs.push(uses.next('a'));
  expect(epochs).toEqual([0, 0, 0, 0, 1, 1, 1, 1]);
});
