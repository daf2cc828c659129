import { describe, expect } from 'vitest';
import { card, createPlain, expectRefusal, invalid, path, test, uniqueId } from '../support.js';

const valid = { type: 'token', data: 'fine' };

describe('400 if one part is invalid, the whole request is rejected, nothing is stored, and the ids stay free', () => {
  test.for([
    ['an unknown type', { a: { type: 'unknown', data: 1 } }, ['a.type']],
    ['a type that is not a string', { a: { type: null, data: 1 } }, ['a.type']],
    ['data that is null', { a: [{ type: 'token', data: null }] }, ['a[0].data']],
    [
      'a number without its check digit',
      { a: { b: [{ type: 'card', data: { number: '4242424242424241' } }] } },
      ['a.b[0].data.number'],
    ],
    ['a field of the wrong type', [{ ...valid, search_indexes: ['a', 1] }], ['[0].search_indexes[1]']],
    ['an expression', { 'a b': { ...valid, mask: { x: '{{ data' } } }, ['["a b"].mask.x']],
    ['an index that is null', [[{ ...valid, search_indexes: ['{{ data.x }}'] }]], ['[0][0].search_indexes[0]']],
    ['an invalid id', { a: { ...valid, id: 'a/b' } }, ['a.id']],
    ['an id whose expression gives no value', { a: { ...valid, id: '{{ data.x }}' } }, ['a.id']],
    [
      'an id that contains the number',
      { a: { type: 'card_number', data: card.number, id: `x-${card.number}` } },
      ['a.id'],
    ],
    ['the body itself', { ...valid, expires_at: 'soon' }, ['expires_at']],
    ['several parts', { a: { ...valid, type: 'x' }, b: valid, c: { type: 'card', data: 1 } }, ['a.type', 'c.data']],
  ] as const)('%s', async ([what, parts, paths], { service }) => {
    const id = uniqueId();
    const body = what === 'the body itself' ? parts : { first: { ...valid, id }, ...wrapped(parts) };
    const expected = invalid(...(Array.isArray(parts) ? paths.map((at) => `rest${at}`) : paths));
    // Wrong JSON types are reported before any other error.
    const answer = await service.call('POST', '/tokenize', body);
    const told = what === 'several parts' ? invalid('a.type') : expected;
    await expectRefusal(service, async () => answer, told);
    expect(answer.text).not.toContain('42424242424242');
    expect((await service.call('GET', path(id))).status, 'the id of the valid part').toBe(404);
    await createPlain(service, { id });
  });

  test('a bare value that is too large is named by its own path', async ({ service }) => {
    const data = 'x'.repeat(513 * 1024);
    await expectRefusal(service, () => service.call('POST', '/tokenize', { a: ['x', data] }), invalid('a[1]'));
    const raw = JSON.stringify(data);
    await expectRefusal(service, () => service.call('POST', '/tokenize', undefined, { raw }), invalid('body'));
  });

  test('the path in an error does not contain a key that could be a value', async ({ service }) => {
    const part = { type: 'x', data: 1 };
    const send = (key: string) => () => service.call('POST', '/tokenize', { a: { [key]: part } });
    await expectRefusal(service, send(`k${'e'.repeat(200)}y`), invalid('a.*.type'));
    await expectRefusal(service, send(card.number), invalid('a.*.type'));
  });
});

describe('400 a body that', () => {
  test('is missing, malformed, or reaches a prototype', async ({ service }) => {
    await expectRefusal(service, () => service.call('POST', '/tokenize'), invalid('body'));
    for (const raw of ['{', '{"a":{"__proto__":{"type":"token","data":1}}}', `${'['.repeat(65)}${']'.repeat(65)}`]) {
      const answer = await service.call('POST', '/tokenize', undefined, { raw });
      expect(answer).toMatchObject({ status: 400, body: { code: 'malformed_body' } });
    }
  });

  test.for([
    ['values', Array(101).fill('x')],
    ['create requests', Array(101).fill(valid)],
    ['both, nested', { a: [valid, Array(50).fill(1)], b: Array(50).fill({ c: true }) }],
    ['far too many', Array(300_000).fill(0)],
  ] as const)('requests more than 100 tokens: %s', async ([, body], { service }) => {
    await expectRefusal(service, () => service.call('POST', '/tokenize', body), invalid('body'));
  });

  test('415 for another media type, and 413 above 4 MiB', async ({ service }) => {
    const headers = { 'content-type': 'text/plain' };
    const text = () => service.call('POST', '/tokenize', ['x'], { headers });
    await expectRefusal(service, text, { status: 415, code: 'unsupported_media_type' });
    const big = () => service.call('POST', '/tokenize', ['x'.repeat(4 * 1024 * 1024)]);
    await expectRefusal(service, big, { status: 413, code: 'body_too_large' });
  });
});

function wrapped(parts: object): object {
  return Array.isArray(parts) ? { rest: parts } : parts;
}
