import { describe, expect } from 'vitest';
import { expectRefusal, invalid, test } from '../support.js';

describe('400 an invalid search body: the errors name every invalid field', () => {
  test.for<[unknown, string[]]>([
    [[], ['body']],
    ['type:card', ['body']],
    [1, ['body']],
    [{ query: 1 }, ['query']],
    [{ query: ['type:card'] }, ['query']],
    [{ page: 0 }, ['page']],
    [{ page: -1 }, ['page']],
    [{ page: 1.5 }, ['page']],
    [{ page: '1' }, ['page']],
    [{ page: 1e300 }, ['page']],
    [{ size: 0 }, ['size']],
    [{ size: 101 }, ['size']],
    [{ size: '20' }, ['size']],
    [{ size: true }, ['size']],
    [{ query: {}, page: 0, size: 0 }, ['query', 'page', 'size']],
  ])('%j', async ([body, paths], { service }) => {
    await expectRefusal(service, () => service.call('POST', '/tokens/search', body), invalid(...paths));
  });

  test('the error for a page contains the valid range', async ({ service }) => {
    const huge = await service.call('POST', '/tokens/search', { page: 1e300 });
    expect(huge.body['errors']).toEqual({ page: ['must be a whole number from 1'] });
    const { body } = await service.call('POST', '/tokens/search', { page: 0, size: 101 });
    expect(body['errors']).toEqual({
      page: ['must be a whole number from 1'],
      size: ['must be a whole number from 1 to 100'],
    });
  });
});

describe('400 an invalid query: the error contains the problem and its position, and does not repeat the query', () => {
  test.for([
    ['type:Zq7 data:Zq7', 'an operator is missing between two terms: AND, OR or NOT (at character 10)'],
    ['tipe:Zq7', 'unknown field; did you mean `type`? (at character 1)'],
    ['Zq7', 'a field is missing; a term has the form field:value (at character 1)'],
    ['CARD', 'a field is missing; a term has the form field:value; did you mean `type:card`? (at character 1)'],
    ['created_at:[2026-01-01 to Zq7]', 'the TO of a range must be in capitals (at character 24)'],
    [`data:"${'Zq7'.repeat(700)}"`, 'a query can have at most 2000 characters'],
  ])('%s', async ([query, message], { service }) => {
    const send = () => service.call('POST', '/tokens/search', { query });
    const answer = await expectRefusal(service, send, invalid('query'));
    expect(answer.body['errors']).toEqual({ query: [message] });
    expect(answer.text).not.toContain('Zq7');
  });
});

test('415 for another media type', async ({ service }) => {
  const send = () => service.call('POST', '/tokens/search', {}, { headers: { 'content-type': 'text/plain' } });
  await expectRefusal(service, send, { status: 415, code: 'unsupported_media_type' });
});
