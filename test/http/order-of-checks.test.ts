import { describe } from 'vitest';
import { rule } from '../support/test-service.js';
import { card, create, createPlain, expectRefusal, invalid, path, test, uniqueId } from './routes/support.js';

const all = ['token:create', 'token:read', 'token:update', 'token:delete', 'token:search', 'token:use'] as const;

describe('the order of checks in docs/contract.md, "Order of checks"', () => {
  test('applies to an update: 401, 403, 415, 400, 404, 403, 412, 400 for stored data', async ({ service }) => {
    const { id } = await create(service, { type: 'card', data: card, containers: ['/b/'] });
    const reader = await service.application(['token:read']);
    const elsewhere = await service.application([rule('/a/', 'reveal', all)]);
    const wrongType = { 'content-type': 'application/json', 'if-match': '"9"' };
    const mergePatch = { 'content-type': 'application/merge-patch+json', 'if-match': '"9"' };
    const faulty = { containers: [], type: 'token' };
    const send = (to: string, key: string | null, headers: Record<string, string>, patch: object) => () =>
      service.call('PATCH', path(to), patch, { key, headers });
    const steps = [
      [send('unknown', null, wrongType, faulty), { status: 401, code: 'unauthenticated' }],
      [send('unknown', reader, wrongType, faulty), { status: 403, code: 'permission_missing' }],
      [send('unknown', elsewhere, wrongType, faulty), { status: 415, code: 'unsupported_media_type' }],
      [send('unknown', elsewhere, mergePatch, faulty), invalid('containers')],
      [send('unknown', elsewhere, mergePatch, { type: 'token' }), { status: 404, code: 'token_not_found' }],
      [send(id, elsewhere, mergePatch, { type: 'token' }), { status: 403, code: 'forbidden' }],
      [send(id, service.key, mergePatch, { type: 'token' }), { status: 412, code: 'precondition_failed' }],
      [send(id, service.key, { ...mergePatch, 'if-match': '"0"' }, { type: 'token' }), invalid('type')],
    ] as const;
    for (const [step, expected] of steps) await expectRefusal(service, step, expected);
  });

  test('applies to a create: 401, 403, 415, 400, 403 for containers, 409', async ({ service }) => {
    const { id } = await createPlain(service);
    const reader = await service.application(['token:read']);
    const elsewhere = await service.application([rule('/a/', 'reveal', all)]);
    const json = { 'content-type': 'application/json' };
    const text = { 'content-type': 'text/plain' };
    const good = { id, type: 'token', data: 1 };
    const send = (key: string | null, headers: Record<string, string>, body: object) => () =>
      service.call('POST', '/tokens', body, { key, headers });
    const steps = [
      [send(null, text, {}), { status: 401, code: 'unauthenticated' }],
      [send(reader, text, {}), { status: 403, code: 'permission_missing' }],
      [send(elsewhere, text, {}), { status: 415, code: 'unsupported_media_type' }],
      [send(elsewhere, json, {}), invalid('type', 'data')],
      [send(elsewhere, json, { ...good, id: 'a' }), invalid('id')],
      [send(elsewhere, json, good), { status: 403, code: 'forbidden' }],
      [send(service.key, json, good), { status: 409, code: 'id_in_use' }],
    ] as const;
    for (const [step, expected] of steps) await expectRefusal(service, step, expected);
  });

  test('puts the 404 for another tenant’s token before any check of rules', async ({ service }) => {
    const other = await service.otherTenant();
    const { id } = await create(service, { id: uniqueId(), type: 'card', data: card, containers: ['/b/'] });
    const missing = { status: 404, code: 'token_not_found' };
    const headers = { 'if-match': '"9"' };
    for (const [method, url, body] of [
      ['GET', path(id), undefined],
      ['PATCH', path(id), { type: 'token' }],
      ['DELETE', path(id), undefined],
      ['DELETE', `${path(id)}/cvc`, undefined],
    ] as const) {
      await expectRefusal(service, () => service.call(method, url, body, { key: other, headers }), missing);
    }
  });
});
