import { expect, test } from 'vitest';
import type { UnitOfWork } from '#src/ports/unit-of-work.js';
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
