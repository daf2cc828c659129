import { expect, onTestFinished, test } from 'vitest';
import type { UnitOfWork } from '#src/ports/unit-of-work.js';
import { exportTokens } from '#src/queries/export-tokens.js';
import { startTestService, type TestService } from '../support/test-service.js';

/** Advances the clock once, at the moment when the next change is loaded or committed. */
function passTime(service: TestService, during: 'load' | 'commit', ms: number): void {
  const { log, rows, work } = service.vault;
  let passed = false;
  const pass = (): void => {
    if (!passed) service.clock.advance(ms);
    passed = true;
  };
  const readFrom = log.readFrom.bind(log);
  const get = rows.get.bind(rows);
  const commit: UnitOfWork['commit'] = work.commit.bind(work);
  if (during === 'load') {
    rows.get = (stream) => {
      pass();
      return get(stream);
    };
    log.readFrom = async (stream, fromRevision, limit) => {
      pass();
      return readFrom(stream, fromRevision, limit);
    };
  } else {
    work.commit = async (change) => {
      const outcome = await commit(change);
      pass();
      return outcome;
    };
  }
}

test('a PATCH that waits until after the expiry does not bring the token back', async () => {
  const service = await startTestService();
  const expires_at = new Date(service.clock.now() + 1_000).toISOString();
  await service.call('POST', '/tokens', { id: 'soon', type: 'token', data: 'x', expires_at });
  passTime(service, 'load', 2_000);
  const patched = await service.call('PATCH', '/tokens/soon', { expires_at: null });
  expect(patched.status, patched.text).toBe(404);
  expect(await service.call('GET', '/tokens/soon')).toMatchObject({ status: 404 });
  await service.close();
});

test('a cvc whose hour ends while the card is being stored is not in the response', async () => {
  const service = await startTestService();
  passTime(service, 'commit', 3_600_000);
  const data = { number: '4242424242424242', cvc: '123' };
  const created = await service.call('POST', '/tokens', { type: 'card', data });
  expect(created, created.text).toMatchObject({ status: 201, body: { data: { number: data.number } } });
  expect(created.body['data']).not.toHaveProperty('cvc');
  await service.close();
});

const fourHours = 4 * 3_600_000;

/**
 * Starts a service with two tokens. The token `soon` expires in four hours. This time passes while the service makes
 * the access record with this number durable.
 */
async function withExpiringReads(ids: readonly string[] = ['soon', 'lasting'], data = 'x', passesAt = 1) {
  const service = await startTestService();
  const expires_at = new Date(service.clock.now() + fourHours).toISOString();
  for (const id of ids) {
    const token = { id, type: 'token', data, ...(id === 'soon' ? { expires_at } : {}) };
    expect(await service.call('POST', '/tokens', token)).toMatchObject({ status: 201 });
  }
  const record = service.vault.recorder.now.bind(service.vault.recorder);
  let records = 0;
  service.vault.recorder.now = (entries) => {
    records += 1;
    if (records === passesAt) service.clock.advance(fourHours);
    return record(entries);
  };
  onTestFinished(() => service.close());
  return service;
}

test('GET returns 404 for a token that expires while its read is being recorded', async () => {
  const service = await withExpiringReads();
  const got = await service.call('GET', '/tokens/soon');
  expect(got, got.text).toMatchObject({ status: 404, body: { code: 'token_not_found' } });
});

test('a list leaves out a token that expires while its read is being recorded', async () => {
  const service = await withExpiringReads();
  const listed = await service.call('GET', '/tokens');
  expect(listed, listed.text).toMatchObject({ status: 200, body: { data: [{ id: 'lasting' }] } });
  expect(listed.body['data']).toHaveLength(1);
});

for (const { ids, passesAt } of [
  { ids: ['lasting', 'soon'], passesAt: 1 },
  { ids: ['soon', 'lasting'], passesAt: 2 },
]) {
  test(`a list of large tokens leaves out the token that expires during record ${passesAt}`, async () => {
    const service = await withExpiringReads(ids, 'x'.repeat(400_000), passesAt);
    const { status, body } = await service.call('GET', '/tokens');
    const shown = (body['data'] as { id: string }[]).map(({ id }) => id);
    expect({ status, shown }).toEqual({ status: 200, shown: ['lasting'] });
  });
}

test('detokenize reports a token that expires while its read is being recorded as unknown', async () => {
  const service = await withExpiringReads();
  const used = await service.call('POST', '/detokenize', { a: '{{ token: soon }}', b: '{{ token: lasting }}' });
  expect(used, used.text).toMatchObject({ status: 400, body: { errors: { a: ['refers to an unknown token: soon'] } } });
});

test('an export leaves out a token that expires while its read is being recorded', async () => {
  const service = await withExpiringReads();
  const caller = await service.service.authenticate(service.key);
  if (caller === null) throw new Error('the key is good');
  const context = { caller, traceId: 'trace', beganAt: performance.now() };
  const { requests } = await exportTokens(service.vault, context, null, 10);
  expect(requests.map(({ id }) => id)).toEqual(['lasting']);
});

for (const path of ['/tokens', '/tokenize']) {
  test(`POST ${path} does not return a token that expires while it is being stored`, async () => {
    const service = await startTestService();
    onTestFinished(() => service.close());
    const expires_at = new Date(service.clock.now() + fourHours).toISOString();
    passTime(service, 'commit', fourHours);
    const created = await service.call('POST', path, { id: 'soon', type: 'token', data: 'x', expires_at });
    expect(created, created.text).toMatchObject({ status: 404, body: { code: 'token_not_found' } });
    expect(created.headers).not.toHaveProperty('location');
  });
}

test('PATCH does not return a token that expires while the change is being stored', async () => {
  const service = await startTestService();
  onTestFinished(() => service.close());
  const expires_at = new Date(service.clock.now() + fourHours).toISOString();
  await service.call('POST', '/tokens', { id: 'soon', type: 'token', data: 'x', expires_at });
  passTime(service, 'commit', fourHours);
  const patched = await service.call('PATCH', '/tokens/soon', { data: 'y' });
  expect(patched, patched.text).toMatchObject({ status: 404, body: { code: 'token_not_found' } });
});
