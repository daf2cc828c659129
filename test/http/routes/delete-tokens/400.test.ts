import { describe, expect } from 'vitest';
import { createPlain, expectRefusal, invalid, read, test } from '../support.js';

describe('400 nothing is deleted', () => {
  test.for([
    ['neither query nor ids', {}, ['body']],
    ['nulls', { query: null, ids: null }, ['body']],
    ['both', { query: 'type:token', ids: [] }, ['body']],
    ['ids that are not an array', { ids: 'x' }, ['ids']],
    ['an id that is not a string', { ids: ['abc', 1] }, ['ids[1]']],
    ['more than 1,000 ids', { ids: Array(1_001).fill('same') }, ['ids']],
    ['a query that is not a string', { query: ['type:token'] }, ['query']],
    ['an empty query', { query: '' }, ['query']],
    ['a blank query', { query: ' \t\n' }, ['query']],
    ['an invalid query', { query: 'number:4242424242424242' }, ['query']],
    ['a bare word', { query: 'token' }, ['query']],
    ['not an object', ['x'], ['body']],
  ] as const)('%s', async ([, body, paths], { service }) => {
    const token = await createPlain(service);
    const answer = await expectRefusal(service, () => service.call('POST', '/tokens/delete', body), invalid(...paths));
    expect(answer.text).not.toContain('424242424242');
    expect(await read(service, token.id)).toEqual(token);
  });

  test('no body, or another media type', async ({ service }) => {
    await expectRefusal(service, () => service.call('POST', '/tokens/delete'), invalid('body'));
    const headers = { 'content-type': 'text/plain' };
    const text = () => service.call('POST', '/tokens/delete', { ids: [] }, { headers });
    await expectRefusal(service, text, { status: 415, code: 'unsupported_media_type' });
  });
});
