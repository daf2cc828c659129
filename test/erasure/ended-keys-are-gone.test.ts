import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestService, type TestService } from '../support/test-service.js';
import { expectNowhere, isSomewhere } from './files.js';
import { aCard, anHour, create, deletedWithLivingKeys, openReader, wrappedKeysOf } from './support.js';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const quiet = () => ({ close: () => undefined });

describe.each([
  { who: 'alone', open: quiet },
  {
    who: 'while another connection is open and idle',
    open() {
      const reader = openReader(service.dataDir);
      reader.look();
      return reader;
    },
  },
  {
    who: 'while another connection holds a snapshot of vault.db',
    open() {
      const reader = openReader(service.dataDir, 'vault.db');
      reader.hold();
      return reader;
    },
  },
])('after the response, no file contains the wrapped key, $who', ({ open }) => {
  test('a DELETE destroys all keys of the token', async () => {
    const id = await create(service, aCard());
    const keys = await wrappedKeysOf(service, id);
    const other = open();
    expect((await service.call('DELETE', `/tokens/${id}`)).status).toBe(204);
    expectNowhere(service.dataDir, [...keys.content, ...keys.cvc]);
    expect((await service.call('DELETE', `/tokens/${id}`)).status).toBe(404);
    other.close();
  });

  test('a PATCH that replaces the data and the cvc destroys their keys', async () => {
    const id = await create(service, aCard());
    const before = await wrappedKeysOf(service, id);
    const other = open();
    const data = { number: '5555555555554444', cvc: '9876' };
    expect((await service.call('PATCH', `/tokens/${id}`, { data })).status).toBe(200);
    expectNowhere(service.dataDir, [...before.content, ...before.cvc]);
    expect((await service.call('GET', `/tokens/${id}`)).body).toMatchObject({ data });
    other.close();
  });

  test('a PATCH that replaces only the cvc destroys only the key of the cvc', async () => {
    const id = await create(service, aCard());
    const before = await wrappedKeysOf(service, id);
    const other = open();
    const patched = await service.call('PATCH', `/tokens/${id}`, { data: { cvc: '4321' } });
    expect(patched.status, patched.text).toBe(200);
    expectNowhere(service.dataDir, before.cvc);
    expect((await service.call('GET', `/tokens/${id}`)).body).toMatchObject({ data: { cvc: '4321' } });
    other.close();
  });

  test('a DELETE of the cvc destroys the key of the cvc', async () => {
    const id = await create(service, aCard());
    const before = await wrappedKeysOf(service, id);
    const other = open();
    expect((await service.call('DELETE', `/tokens/${id}/cvc`)).status).toBe(204);
    expectNowhere(service.dataDir, before.cvc);
    for (const key of before.content) expect(isSomewhere(service.dataDir, key)).toBe(true);
    const { status, body } = await service.call('GET', `/tokens/${id}`);
    expect([status, (body['data'] as Record<string, unknown>)['cvc']]).toEqual([200, undefined]);
    other.close();
  });

  test('the sweep destroys keys when a cvc is due and when a token expires', async () => {
    const expires_at = new Date(service.clock.now() + 2 * anHour).toISOString();
    const id = await create(service, aCard('123', { expires_at }));
    const before = await wrappedKeysOf(service, id);
    const other = open();
    service.clock.advance(anHour);
    await service.service.sweep.run();
    expectNowhere(service.dataDir, before.cvc);
    for (const key of before.content) expect(isSomewhere(service.dataDir, key)).toBe(true);
    service.clock.advance(anHour);
    expect((await service.call('GET', `/tokens/${id}`)).status).toBe(404);
    await service.service.sweep.run();
    expectNowhere(service.dataDir, before.content);
    expect(service.errors).toEqual([]);
    other.close();
  });

  test('a create that reuses an id destroys the old keys, even if the expiry was not recorded', async () => {
    const id = randomUUID();
    const expires_at = new Date(service.clock.now() + 1_000).toISOString();
    await create(service, aCard('123', { id, expires_at }));
    const before = await wrappedKeysOf(service, id);
    const other = open();
    service.clock.advance(1_000);
    await create(service, aCard('123', { id }));
    expectNowhere(service.dataDir, [...before.content, ...before.cvc]);
    other.close();
  });
});

describe('a crash between the event and the destruction of the keys', () => {
  test('hides the token at once; a repeated DELETE finishes the erasure, and the next DELETE returns 404', async () => {
    const { id, keys } = await deletedWithLivingKeys(service);
    for (const key of keys) expect(isSomewhere(service.dataDir, key)).toBe(true);
    expect((await service.call('GET', `/tokens/${id}`)).status).toBe(404);
    expect((await service.call('DELETE', `/tokens/${id}`)).status).toBe(204);
    expectNowhere(service.dataDir, keys);
    expect((await service.call('DELETE', `/tokens/${id}`)).status).toBe(404);
  });

  test('is repaired at the next start, before the service is ready', async () => {
    const { id, keys } = await deletedWithLivingKeys(service);
    const { dataDir, rootKey, key, clock } = service;
    await service.stop();
    service = await startTestService({ dataDir, rootKey });
    service.clock.set(clock.now());
    expectNowhere(dataDir, keys);
    expect((await service.call('GET', `/tokens/${id}`, undefined, { key })).status).toBe(404);
    expect((await service.call('DELETE', `/tokens/${id}`, undefined, { key })).status).toBe(404);
  });
});
