import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { packStream } from '#src/adapters/sqlite/database/packed-text.js';
import { startTestService, type TestService } from '../support/test-service.js';
import { aCard, create, keyIdBytes, keyIdsOf, streamOf, tamper } from './support.js';

let service: TestService;
let id: string;
beforeEach(async () => {
  service = await startTestService();
  id = await create(service, aCard());
});
afterEach(() => service.close());

const remove = 'DELETE FROM data_keys WHERE id = ?';
const destroy = `UPDATE data_keys SET wrapped = zeroblob(length(wrapped)), destroyed_at = 1 WHERE id = ?`;
const damage = `UPDATE data_keys SET wrapped = zeroblob(length(wrapped)) WHERE id = ?`;

describe.each([
  { how: 'removed', statement: remove },
  { how: 'destroyed without an event', statement: destroy },
  { how: 'damaged', statement: damage },
])('a key that another program $how', ({ statement }) => {
  test.each(['content', 'cvc'] as const)('for the %s makes its token lost, not erased', async (part) => {
    const [keyId] = (await keyIdsOf(service, id))[part];
    const { dataDir, rootKey, key } = service;
    await service.stop();
    expect(tamper(dataDir, 'keys.db', statement, keyIdBytes(String(keyId)))).toBe(1);
    service = await startTestService({ dataDir, rootKey });
    expect((await service.call('GET', '/health/ready', undefined, { key: null })).status).toBe(200);
    for (const [method, body] of [['GET'], ['PATCH', { metadata: { a: 'b' } }], ['DELETE']] as const) {
      const { status, body: problem } = await service.call(method, `/tokens/${id}`, body, { key });
      expect([method, status, problem['code']]).toEqual([method, 500, 'key_lost']);
    }
    expect((await service.call('GET', '/health/ready', undefined, { key: null })).status).toBe(503);
    expect((await service.call('GET', '/health/live', undefined, { key: null })).status).toBe(200);
  });
});

test.each(['ids', 'query'] as const)(
  'a token whose key is lost does not stop the deletion of others by %s',
  async (by) => {
    const others = [
      await create(service, { type: 'token', data: 'one' }),
      await create(service, { type: 'token', data: 'two' }),
    ];
    const [keyId] = (await keyIdsOf(service, id)).content;
    const { dataDir, rootKey, key } = service;
    await service.stop();
    expect(tamper(dataDir, 'keys.db', remove, keyIdBytes(String(keyId)))).toBe(1);
    service = await startTestService({ dataDir, rootKey });
    const all = [others[0], id, others[1]];
    const asked = by === 'ids' ? { ids: all } : { query: all.map((one) => `id:${one}`).join(' OR ') };
    const { status, body } = await service.call('POST', '/tokens/delete', asked, { key });
    expect([status, body['code']]).toEqual([500, 'key_lost']);
    const statuses = all.map(async (one) => (await service.call('GET', `/tokens/${one}`, undefined, { key })).status);
    expect(await Promise.all(statuses)).toEqual([404, 500, 404]);
  },
);

test('a token with the ciphertext of another token is rejected, and no part of it is shown', async () => {
  const other = await create(service, { type: 'token', data: 'another-value' });
  const streams = [await streamOf(service, id), await streamOf(service, other)].map(packStream);
  const { dataDir, rootKey, key } = service;
  await service.stop();
  const created = 'SELECT position FROM events WHERE stream = ? AND revision = 0';
  const swap = `UPDATE token_rows_1 SET content_at = (${created}) WHERE stream = ?`;
  expect(tamper(dataDir, 'vault.db', swap, streams[1], streams[0])).toBe(1);
  service = await startTestService({ dataDir, rootKey });
  const { status, body, text } = await service.call('GET', `/tokens/${id}`, undefined, { key });
  expect([status, body['code']]).toEqual([500, 'row_forged']);
  expect(text).not.toContain('another-value');
});

test('if the search keys of the rows are lost, the service is not ready until they are back', async () => {
  const reasons = async () => (await service.service.state()).reasons;
  expect(tamper(service.dataDir, 'keys.db', 'UPDATE generation_keys SET generation = generation + 100')).toBe(1);
  // The service has cached the search key of the first tenant.
  const key = await service.otherTenant();
  const { status, body } = await service.call('POST', '/tokens', { type: 'token', data: 'x' }, { key });
  expect([status, body['code']]).toEqual([500, 'key_lost']);
  expect(await reasons()).toEqual(['token keys are lost']);
  expect(tamper(service.dataDir, 'keys.db', 'UPDATE generation_keys SET generation = generation - 100')).toBe(1);
  await expect.poll(reasons).toEqual([]);
});
