import { createPublicKey, verify } from 'node:crypto';
import { describe, expect } from 'vitest';
import { checkpointBytes, readCheckpointLine } from '#src/events/audit/checkpoint.js';
import { createPlain, test } from './support.js';

const anHour = 3_600_000;

describe('GET /audit/checkpoints', () => {
  test('answers each checkpoint as an anchor gets it, the newest first, page by page', async ({ service }) => {
    const get = (query = '') =>
      service.call('GET', `/audit/checkpoints${query}`, undefined, { key: service.managementKey });
    expect((await get()).body).toMatchObject({ data: [], pagination: { total_items: 0 } });
    for (let hours = 0; hours < 3; hours += 1) {
      await createPlain(service);
      await service.service.checkpointer.run();
      service.clock.advance(anHour);
    }
    const { body } = await get();
    const data = body['data'] as readonly { number: number }[];
    expect(data.map(({ number }) => number)).toEqual([3, 2, 1]);
    const { publicKey } = await service.vault.keys.signingKey();
    for (const item of data) {
      const checkpoint = readCheckpointLine(JSON.stringify(item));
      if (checkpoint === null) throw new Error('it is no checkpoint');
      const signature = Buffer.from(checkpoint.signature, 'base64');
      expect(verify(null, checkpointBytes(checkpoint), createPublicKey(publicKey), signature)).toBe(true);
    }
    const second = (await get('?page=2&size=2')).body;
    expect(second).toMatchObject({ data: [{ number: 1 }], pagination: { total_items: 3, total_pages: 2 } });
    expect((await get('?page=9')).body['data']).toEqual([]);
  });

  test('needs log:read, and is recorded', async ({ service }) => {
    expect((await service.call('GET', '/audit/checkpoints')).status).toBe(403);
    expect((await service.call('GET', '/audit/checkpoints', undefined, { key: null })).status).toBe(401);
    await service.call('GET', '/audit/checkpoints', undefined, { key: service.managementKey });
    const { body } = await service.call('GET', '/logs?entity_type=log', undefined, { key: service.managementKey });
    expect(JSON.stringify(body)).toContain('checkpoints of the event log read');
  });

  test('refuses a page that is none', async ({ service }) => {
    const answer = await service.call('GET', '/audit/checkpoints?page=0', undefined, { key: service.managementKey });
    expect(answer.status).toBe(400);
  });
});
