import { describe, expect } from 'vitest';
import { createPlain, eventsSince, expectProblem, path, test } from './routes/support.js';

describe('a live token whose key is lost does not count as erased', () => {
  test('every route returns 500 and never 404, and the service is no longer ready', async ({ service }) => {
    expect((await service.call('GET', '/health/ready')).status).toBe(200);
    const before = await service.eventCount();
    const { id } = await createPlain(service);
    const [made] = await eventsSince(service, before);
    const lost = { keyId: String(made?.clear['key']), eventId: '00000000-0000-0000-0000-000000000000' };
    await service.vault.keys.destroy([lost]);
    const answers = [
      await service.call('GET', path(id)),
      await service.call('PATCH', path(id), { data: 'x' }),
      await service.call('DELETE', path(id)),
      await service.call('DELETE', `${path(id)}/cvc`),
    ];
    for (const answer of answers) {
      expect(answer, answer.text).toMatchObject({ status: 500, body: { code: 'key_lost' } });
      expectProblem(answer);
      expect(answer.text).not.toContain(lost.keyId);
    }
    expect(await service.eventCount()).toBe(before + 1);
    expect(await service.call('GET', '/health/ready')).toMatchObject({ status: 503, body: { status: 'not_ready' } });
    expect((await service.call('GET', '/health/live')).status).toBe(200);
  });
});
