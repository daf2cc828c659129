import { createPublicKey, verify } from 'node:crypto';
import { describe, expect } from 'vitest';
import { formatTimestamp } from '#src/domain/time.js';
import { checkpointHash, checkpointStream, readCheckpointEvent, signedBytes } from '#src/events/audit/checkpoint.js';
import { createPlain, test } from './support.js';

const anHour = 3_600_000;

describe('GET /audit/checkpoints', () => {
  test('shows the checkpoint of each hour with its proof, newest first, in pages', async ({ service }) => {
    const get = (query = '') =>
      service.call('GET', `/audit/checkpoints${query}`, undefined, { key: service.managementKey });
    expect((await get()).body).toMatchObject({ data: [], pagination: { total_items: 0 } });
    for (let hours = 0; hours < 3; hours += 1) {
      await createPlain(service);
      await service.service.checkpointer.run();
      service.clock.advance(anHour);
    }
    const { body } = await get();
    const data = body['data'] as readonly { time: string; hash: string; signed_by: string; signature: string }[];
    const events = await service.vault.log.readNewest(checkpointStream, null, 100);
    expect(data).toEqual(
      events.map(readCheckpointEvent).map((checkpoint) => ({
        time: formatTimestamp(checkpoint.time),
        hash: checkpointHash(checkpoint),
        signed_by: checkpoint.signed_by,
        signature: checkpoint.signature,
      })),
    );
    const { publicKey } = await service.vault.keys.signingKey();
    for (const { hash, signature } of data) {
      const key = createPublicKey(publicKey);
      expect(verify(null, signedBytes(hash), key, Buffer.from(signature, 'base64'))).toBe(true);
    }
    const second = (await get('?page=2&size=2')).body;
    expect(second).toMatchObject({ data: [data[2]], pagination: { total_items: 3, total_pages: 2 } });
    expect((await get('?page=9')).body['data']).toEqual([]);
  });

  test('reveals nothing about other tenants', async ({ service }) => {
    const other = await service.otherTenant();
    const get = async () =>
      (await service.call('GET', '/audit/checkpoints', undefined, { key: service.managementKey })).body;
    await service.service.checkpointer.run();
    service.clock.advance(anHour);
    await service.service.checkpointer.run();
    const before = await get();
    const count = async () => (await service.vault.log.readNewest(checkpointStream, null, 100)).length;
    const signed = await count();
    for (let round = 0; round < 3; round += 1) {
      await service.call('POST', '/tokens', { type: 'token', data: 'x' }, { key: other });
      await service.service.checkpointer.run('grown');
    }
    expect(await count()).toBe(signed + 3);
    expect(await get()).toEqual(before);
    const [newest] = before['data'] as readonly object[];
    expect(Object.keys(newest ?? {}).sort()).toEqual(['hash', 'signature', 'signed_by', 'time']);
  });

  test('requires log:read, and is recorded', async ({ service }) => {
    expect((await service.call('GET', '/audit/checkpoints')).status).toBe(403);
    expect((await service.call('GET', '/audit/checkpoints', undefined, { key: null })).status).toBe(401);
    await service.call('GET', '/audit/checkpoints', undefined, { key: service.managementKey });
    const { body } = await service.call('GET', '/logs?entity_type=log', undefined, { key: service.managementKey });
    expect(JSON.stringify(body)).toContain('checkpoints of the event log read');
  });

  test('rejects an invalid page', async ({ service }) => {
    const answer = await service.call('GET', '/audit/checkpoints?page=0', undefined, { key: service.managementKey });
    expect(answer.status).toBe(400);
  });
});
