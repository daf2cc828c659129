import { describe, expect } from 'vitest';
import { problemCatalogue } from '#src/http/problem/problem-catalogue.js';
import { createPlain, expectProblem, expectRefusal, path, test } from './routes/support.js';

describe('a problem explains itself', () => {
  test.for(Object.entries(problemCatalogue))(
    'the page of %s needs no key',
    async ([code, { status, title }], { service }) => {
      const page = await service.call('GET', `/errors/${code}`, undefined, { key: null });
      expect(page).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } });
      expect(page.text).toContain(`<h1>${title}</h1>`);
      expect(page.text).toContain(`Status ${status}`);
    },
  );

  test('its type links to its page', async ({ service }) => {
    const problem = await service.call('GET', '/tokens/unknown');
    const page = await service.call('GET', String(problem.body['type']), undefined, { key: null });
    expect(page.text).toContain(String(problem.body['title']));
  });

  test('its detail says what happened and what to do', async ({ service }) => {
    const { detail, advice } = problemCatalogue.token_not_found;
    const problem = await service.call('GET', '/tokens/unknown');
    expect(problem.body['detail']).toBe(`${detail} ${advice}`);
  });

  test.for(['none', 'constructor', '__proto__', 'toString'])('there is no page for %s', async (code, { service }) => {
    const send = () => service.call('GET', `/errors/${code}`);
    await expectRefusal(service, send, { status: 404, code: 'not_found' });
  });

  test.for([
    ['GET', '/nothing'],
    ['GET', '//tokens/x'],
  ] as const)('%s %s is not served', async ([method, url], { service }) => {
    await expectRefusal(service, () => service.call(method, url), { status: 404, code: 'not_found' });
  });

  test('an error response does not repeat any part of the request', async ({ service }) => {
    const marks = { id: 'mark/id', metadata: { k: 7 }, mask: '{{ mark }}', data: { mark: 'x' }, expires_at: 'mark' };
    const { text } = await service.call('POST', '/tokens?mark=1', { type: 'card', ...marks, containers: ['mark'] });
    expect(text).not.toContain('mark');
  });
});

test('a 400 names at most 20 errors, even if the body is invalid everywhere', async ({ service }) => {
  const permissions = Array(1_000).fill(1);
  const body = { name: 1, type: 1, permissions, rules: permissions };
  const answer = await service.call('POST', '/applications', body, { key: service.managementKey });
  expect(answer.status, answer.text).toBe(400);
  expect(Object.values(answer.body['errors'] ?? {}).flat().length).toBeLessThanOrEqual(20);
});

describe('the trace id', () => {
  test.for([
    'abc',
    'A.b_c-9',
    '12345678',
    '123456789a',
    '1-2-3-4-5-6-7-8',
    'x'.repeat(100),
    'x12345678901',
    '123456x789012',
    '49297145-9847-4364-8123-45678901234a',
    '0af7651916cd43dd8448123456789012',
  ])('%s is accepted', async (traceId, { service }) => {
    const answer = await service.call('GET', '/tokens/unknown', undefined, {
      headers: { 'service-trace-id': traceId },
    });
    expect(answer.headers['service-trace-id']).toBe(traceId);
    expect(answer.body['instance']).toBe(`urn:trace:${traceId}`);
  });

  test.for([
    '',
    'a b',
    'ä',
    'a/b',
    'x'.repeat(101),
    '123456789',
    '4242-4242-4242-4242',
    '1.2.3.4.5.6.7.8.9',
    '{"a":1}',
    'x4929714598473645',
    'card-4929-7145-9847-3645',
    '4.9.2.9.7_1-4598473645x',
  ])('%s is rejected', async (traceId, { service }) => {
    const answer = await service.call('GET', '/tokens/unknown', undefined, {
      headers: { 'service-trace-id': traceId },
    });
    expect(answer.headers['service-trace-id']).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
    expectProblem(answer);
  });

  test('every response has a trace id, and two requests have different ones', async ({ service }) => {
    const { id } = await createPlain(service);
    const answers = [
      await service.call('GET', path(id)),
      await service.call('GET', path(id), undefined, { key: null }),
      await service.call('GET', '/nothing'),
      await service.call('GET', '/health/live', undefined, { key: null }),
      await service.call('DELETE', path(id)),
    ];
    const ids = answers.map(({ headers }) => headers['service-trace-id']);
    expect(ids.every((one) => typeof one === 'string' && one !== '')).toBe(true);
    expect(new Set(ids).size).toBe(answers.length);
  });
});
