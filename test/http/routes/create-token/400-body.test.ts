import { describe, expect } from 'vitest';
import { expectRefusal, invalid, refusal, test } from '../support.js';

const token = (data: string) => `{"type":"token","data":${data}}`;
const malformed = (path = 'body') => ({ status: 400, code: 'malformed_body', paths: [path] });

describe('400 a body that is not a create request stores nothing', () => {
  test.for([
    ['null', 'null'],
    ['an array', '[{"type":"token","data":1}]'],
    ['a string', '"token"'],
    ['a number', '1'],
    ['false', 'false'],
  ])('%s', async ([, raw], { service }) => {
    const send = () => service.call('POST', '/tokens', undefined, { raw: String(raw) });
    const answer = await expectRefusal(service, send, invalid('body'));
    expect(answer.body['errors']).toEqual({ body: ['must be a JSON object'] });
  });

  test('no body at all, with or without a media type', async ({ service }) => {
    for (const headers of [{}, { 'content-type': 'application/json' }, { 'content-type': 'text/plain' }]) {
      const send = () => service.call('POST', '/tokens', undefined, { headers });
      await expectRefusal(service, send, invalid('body'));
    }
    const empty = () => service.call('POST', '/tokens', undefined, { raw: '' });
    await expectRefusal(service, empty, invalid('body'));
  });
});

describe('400 a body that is not acceptable JSON stores nothing, and the error does not repeat it', () => {
  test.for([
    ['truncated JSON', '{"type":"token","data":"Sensitive', 'body'],
    ['a trailing comma', token('1,'), 'body'],
    ['two values', `${token('1')}${token('2')}`, 'body'],
    ['single quotes', "{'type':'token'}", 'body'],
    ['a comment', `${token('1')}//`, 'body'],
    ['NaN', token('NaN'), 'body'],
    ['a control character in a string', token('"a\nb"'), 'body'],
    ['white space alone', '  ', 'body'],
    ['65 levels', token(`${'['.repeat(64)}${']'.repeat(64)}`), 'body'],
    ['__proto__', token('{"a":{"__proto__":{}}}'), 'data.a.__proto__'],
    ['an escaped __proto__', token('{"\\u005f_proto__":1}'), 'data.__proto__'],
    ['a constructor with a prototype', token('{"constructor":{"prototype":1}}'), 'data.constructor.prototype'],
    ['a number that would lose digits', token('[12345678901234567890]'), 'data[0]'],
    ['an invalid number', token('1e999'), 'data'],
  ])('%s', async ([, raw, path], { service }) => {
    const send = () => service.call('POST', '/tokens', undefined, { raw: String(raw) });
    const answer = await expectRefusal(service, send, malformed(path));
    expect(answer.text).not.toMatch(/Sensitive|123456/);
  });

  test('bytes that are not UTF-8', async ({ service }) => {
    const raw = Buffer.concat([Buffer.from('{"type":"token","data":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
    await expectRefusal(service, () => service.call('POST', '/tokens', undefined, { raw }), malformed());
  });
});

describe('413 and 415 come before the body is checked', () => {
  test('413 for a body of more than 4 MiB; a body of 4 MiB is read, and its content returns 400', async ({
    service,
  }) => {
    const bytesMax = 4 * 1024 * 1024;
    const raw = (bytes: number) => token(`"${'x'.repeat(bytes - token('""').length)}"`);
    const send = () => service.call('POST', '/tokens', undefined, { raw: raw(bytesMax + 1) });
    await expectRefusal(service, send, { status: 413, code: 'body_too_large' });
    const read = await service.call('POST', '/tokens', undefined, { raw: raw(bytesMax) });
    expect(refusal(read)).toEqual(invalid('data'));
  });

  test.for([
    'application/merge-patch+json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json-patch+json',
    'multipart/form-data; boundary=x',
    'json',
  ])('415 for %s', async (type, { service }) => {
    const headers = { 'content-type': type };
    const send = () => service.call('POST', '/tokens', undefined, { headers, raw: '{' });
    await expectRefusal(service, send, { status: 415, code: 'unsupported_media_type' });
  });

  test('415 for a body without a media type', async ({ service }) => {
    const headers = { 'service-api-key': service.key };
    const response = await service.app.inject({ method: 'POST', url: '/tokens', headers, payload: token('1') });
    expect(response.statusCode, response.body).toBe(415);
  });
});
