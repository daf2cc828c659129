import { randomBytes } from 'node:crypto';
import { describe, expect, onTestFinished, test as plainTest } from 'vitest';
import type { JsonObject } from '#src/domain/json.js';
import { filesOf, findTexts } from '../erasure/files.js';
import { embeddedOnly } from '../support/profile.js';
import { startTestService, type TestService } from '../support/test-service.js';
import { logs } from './routes/list-logs/support.js';
import { createPlain, expectRefusal, invalid, path, test, uniqueId } from './routes/support.js';

const person = 'Zoë Müller';
const reason = 'Chargeback 81: 50% was paid';

function namedBy(given: { readonly person?: string; readonly reason?: string }): Record<string, string> {
  return {
    ...(given.person === undefined ? {} : { 'service-person': encodeURIComponent(given.person) }),
    ...(given.reason === undefined ? {} : { 'service-reason': encodeURIComponent(given.reason) }),
  };
}

const headers = namedBy({ person, reason });

/** Returns the newest entry in the access log for this operation on the token. */
async function recorded(service: TestService, id: string, operation: string): Promise<JsonObject> {
  const [newest = {}] = await logs(service, { entity_id: id, operation });
  return newest;
}

describe('the access log records the person and the reason for', () => {
  test('a get', async ({ service }) => {
    const { id } = await createPlain(service);
    await service.call('GET', path(id), undefined, { headers: { ...headers, 'service-trace-id': 'case-81' } });
    expect(await recorded(service, id, 'reveal')).toMatchObject({ person, reason, trace_id: 'case-81' });
  });

  test('a detokenize request, a masked search and a redacted search', async ({ service }) => {
    const { id } = await createPlain(service, { metadata: { mark: 'searched' } });
    await service.call('POST', '/detokenize', { x: `{{ ${id} }}` }, { headers });
    expect(await recorded(service, id, 'reveal')).toMatchObject({ person, reason });
    const key = await service.application([
      { description: '', priority: 1, container: '/', transform: 'redact', permissions: ['token:search'] },
    ]);
    const query = { query: 'metadata.mark:searched' };
    await service.call('POST', '/tokens/search', query, { key, headers: namedBy({ person: 'Ann' }) });
    const entry = await recorded(service, id, 'read');
    expect(entry).toMatchObject({ person: 'Ann' });
    expect(entry).not.toHaveProperty('reason');
  });

  test('a change, a delete and a rejected request', async ({ service }) => {
    const { id } = await createPlain(service);
    await service.call('PATCH', path(id), { metadata: { a: 'b' } }, { headers });
    const denied = await service.application(['token:update']);
    await service.call('GET', path(id), undefined, { key: denied, headers });
    await service.call('DELETE', path(id), undefined, { headers });
    for (const operation of ['update', 'read', 'delete']) {
      expect(await recorded(service, id, operation), operation).toMatchObject({ person, reason });
    }
  });

  test('a read of the log, and a change to an application', async ({ service }) => {
    const key = service.managementKey;
    await service.call('GET', '/logs', undefined, { key, headers });
    const body = { name: 'named', type: 'private', permissions: ['token:read'] };
    const created = await service.call('POST', '/applications', body, { key, headers });
    expect(created.status, created.text).toBe(201);
    const ofLog = await logs(service, { entity_type: 'log', operation: 'read' });
    expect(ofLog.filter((entry) => entry['reason'] === reason)).toEqual([expect.objectContaining({ person })]);
    const [entry] = await logs(service, { entity_id: String(created.body['id']), operation: 'create' });
    expect(entry).toMatchObject({ person, reason });
  });
});

test('without the headers, an entry in the log has neither field', async ({ service }) => {
  const { id } = await createPlain(service);
  await service.call('GET', path(id));
  for (const operation of ['create', 'reveal']) {
    const entry = await recorded(service, id, operation);
    expect(Object.keys(entry)).toContain('trace_id');
    expect(Object.keys(entry)).not.toContain('person');
    expect(Object.keys(entry)).not.toContain('reason');
  }
});

test('the history of a token names the person to readers of the access log, and the event log contains no reason', async ({
  service,
}) => {
  const { id } = await createPlain(service);
  await service.call('PATCH', path(id), { metadata: { a: 'b' } }, { headers });
  const { managementKey: key } = service;
  const { body } = await service.call('GET', `${path(id)}/history`, undefined, { key });
  const [updated, created] = body['data'] as JsonObject[];
  expect(updated).toMatchObject({ type: 'token.updated', person });
  expect(updated).not.toHaveProperty('reason');
  expect(created).not.toHaveProperty('person');
  const { text } = await service.call('GET', `${path(id)}/history`);
  expect(text, 'to a caller without log:read').not.toContain(person);
});

describe('a person or a reason is rejected', () => {
  test.for([
    ['an empty string', ''],
    ['only spaces', '%20%20'],
    ['a string that is too long', 'x'.repeat(501)],
    ['a line break', 'a%0Ab'],
    ['a control character of Latin-1', '%C2%85'],
    ['a byte that is not percent-encoded', 'M\u00fcller'],
    ['a lone percent sign', '50%'],
    ['bytes that are not UTF-8', '%FF'],
    ['a card number', 'card 4242424242424242'],
    ['a card number in groups', 'card 4242 4242-4242.4242'],
    ['a card number in another script', encodeURIComponent('٤٢٤٢٤٢٤٢٤٢٤٢٤٢٤٢')],
  ] as const)('%s', async ([, text], { service }) => {
    const { id } = await createPlain(service);
    for (const name of ['service-person', 'service-reason']) {
      const send = () => service.call('GET', path(id), undefined, { headers: { [name]: text } });
      const { text: answer } = await expectRefusal(service, send, invalid(name.toUpperCase()));
      if (text.length > 4) expect(answer, 'an error repeats no value').not.toContain(text);
    }
    expect(await logs(service, { entity_id: id, operation: 'reveal' })).toEqual([]);
  });

  test.for(['\u3164', '\u115F\u1160\uFFA0', '\u034F\u200B\u2800 \u00AD'])(
    'if no character of %j is visible, and the error says so',
    async (text, { service }) => {
      const headers = namedBy({ person: text, reason: text });
      const { status, body } = await service.call('GET', '/tokens', undefined, { headers });
      const errors = ['must contain a visible character'];
      expect([status, body['errors']]).toEqual([400, { 'SERVICE-PERSON': errors, 'SERVICE-REASON': errors }]);
    },
  );

  test('if the name of the person has 201 characters', async ({ service }) => {
    const send = () => service.call('GET', '/tokens', undefined, { headers: namedBy({ person: 'ü'.repeat(201) }) });
    await expectRefusal(service, send, invalid('SERVICE-PERSON'));
  });

  test('after the key and the permission were checked, and before the body and the token are', async ({ service }) => {
    const bad = { 'service-reason': '%' };
    const denied = await service.application(['token:read']);
    const send = (key: string | null) => () =>
      service.call('POST', '/tokens', {}, { key, headers: { ...bad, 'content-type': 'text/plain' } });
    await expectRefusal(service, send(null), { status: 401, code: 'unauthenticated' });
    await expectRefusal(service, send(denied), { status: 403, code: 'permission_missing' });
    await expectRefusal(service, send(service.key), invalid('SERVICE-REASON'));
    const missing = () => service.call('GET', path('unknown'), undefined, { headers: bad });
    await expectRefusal(service, missing, invalid('SERVICE-REASON'));
  });
});

test('values of the maximum length are accepted, even if they contain a date and a time', async ({ service }) => {
  const { id } = await createPlain(service);
  const longest = { person: '𝒳'.repeat(200), reason: `2026-11-25 10:30 ${'ü'.repeat(483)}` };
  const answer = await service.call('GET', path(id), undefined, { headers: namedBy(longest) });
  expect(answer.status, answer.text).toBe(200);
  expect(await recorded(service, id, 'reveal')).toMatchObject(longest);
});

plainTest('no file contains the person or reason in plaintext, and their length hardly shows', async (context) => {
  embeddedOnly(context, 'it looks into the files of SQLite');
  const service = await startTestService();
  onTestFinished(service.close);
  const planted = {
    person: `mk${randomBytes(12).toString('hex').replaceAll(/\d/g, 'x')}`,
    reason: `mk${randomBytes(12).toString('hex').replaceAll(/\d/g, 'x')}`,
  };
  const { id } = await createPlain(service, { id: uniqueId() });
  const as = { headers: namedBy(planted) };
  await service.call('PATCH', path(id), { metadata: { a: 'b' } }, as);
  await service.call('GET', path(id), undefined, as);
  await service.call('DELETE', path(id), undefined, as);
  expect(await logs(service, { entity_id: id })).toContainEqual(expect.objectContaining(planted));
  expect(findTexts(filesOf(service.dataDir), planted)).toEqual([]);

  const everything = { entityType: null, entityRef: null, operation: null, from: 0, to: null };
  const other = await createPlain(service);
  await service.call('GET', path(other.id), undefined, { headers: namedBy({ person: 'A', reason: 'B' }) });
  const { entries } = await service.vault.accessLog.query(service.tenantId, everything, { offset: 0, limit: 100 });
  const lengths = entries.filter(({ operation }) => operation === 'reveal').map(({ trace }) => trace?.length ?? 0);
  expect(new Set(lengths.map((length) => (length - 33) % 64))).toEqual(new Set([0]));
});
