import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { filesOf, findTexts } from '../../erasure/files.js';
import { logsAnswer } from '../../http/routes/list-logs/support.js';
import { path } from '../../http/routes/support.js';
import { startTestService } from '../../support/test-service.js';

test('no value from any field of a request is in an access log file, and none except the id is in a response', async () => {
  const service = await startTestService();
  const planted: Record<string, string> = {};
  const plant = (what: string): string => {
    planted[what] = `mk${randomBytes(12).toString('hex')}`;
    return planted[what];
  };
  const fields = (name: string) => ({
    data: { [plant(`${name}: key`)]: plant(`${name}: data`) },
    mask: plant(`${name}: mask`),
    metadata: { [plant(`${name}: metadata key`)]: plant(`${name}: metadata value`) },
    containers: [`/${plant(`${name}: container`)}/`],
    search_indexes: [plant(`${name}: index`)],
    fingerprint_expression: `${plant(`${name}: fingerprint`)}{{ data }}`,
  });
  const id = plant('id');
  const headers = { 'service-idempotency-key': plant('idempotency key'), 'service-trace-id': plant('trace id') };
  const created = await service.call('POST', '/tokens', { id, type: 'token', ...fields('created') }, { headers });
  expect(created.status, created.text).toBe(201);
  const changed = await service.call('PATCH', path(id), fields('changed'), { headers });
  expect(changed.status, changed.text).toBe(200);
  await service.call('GET', path(id), undefined, { headers });
  const denied = await service.application(['token:update']);
  await service.call('GET', path(plant('id that was refused')), undefined, { key: denied, headers });
  const refused = await service.call('POST', '/tokens', { ...fields('refused'), type: 'token' }, { key: denied });
  expect(refused.status).toBe(403);
  await service.call('GET', `/logs?entity_id=${plant('id asked for')}`, undefined, {
    key: service.managementKey,
    headers,
  });

  const answer = { name: 'answer', content: Buffer.from(JSON.stringify(await logsAnswer(service))) };
  const { id: _id, 'trace id': _traceId, ...neverShown } = planted;
  expect(findTexts([answer], neverShown)).toEqual([]);
  expect(answer.content.includes(id), 'the id of a living token').toBe(true);
  const files = () => filesOf(service.dataDir).filter(({ name }) => name.startsWith('access-'));
  expect(files().map(({ name }) => name)).toContain('access-2026-01.db');
  expect(findTexts(files(), planted), 'while the service runs').toEqual([]);
  await service.stop();
  expect(findTexts(files(), planted), 'after it was stopped').toEqual([]);
  await service.close();
});
