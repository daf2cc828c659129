import { describe, expect } from 'vitest';
import type { Json } from '#src/domain/json.js';
import { detokenize } from '../batch.js';
import { create, createPlain, hourMs, test, uniqueId } from '../support.js';

const bank = { routing_number: '021000021', account_number: '00042' };

describe('200 expressions become values, and everything else stays unchanged', () => {
  test('in objects, arrays and nested values, but not in keys', async ({ service }) => {
    const { id } = await createPlain(service, { data: 'secret' });
    const at = `{{ ${id} }}`;
    const body = { a: at, [at]: 1, list: [at, null, true, 3, 'text', {}], deep: { b: { c: [[at]] } } };
    expect(await detokenize(service, body)).toEqual({
      a: 'secret',
      [at]: 1,
      list: ['secret', null, true, 3, 'text', {}],
      deep: { b: { c: [['secret']] } },
    });
  });

  test.for([
    ['a string', 'x'],
    ['a number', 8.99],
    ['a boolean', false],
    ['an object', { a: { b: [1, null] } }],
    ['an array', [1, 'two', null]],
    ['an empty string', ''],
  ] as const)('an expression that is the whole string keeps its JSON type: %s', async ([, data], { service }) => {
    const { id } = await createPlain(service, { data });
    expect(await detokenize(service, `{{ ${id} }}`)).toEqual(data);
    expect(await detokenize(service, [`{{${id}}}`])).toEqual([data]);
  });

  test('inside text, null becomes empty, a string stays as it is, and any other value becomes its JSON', async ({
    service,
  }) => {
    const { id } = await createPlain(service, { data: { n: 1.5, s: 'x', o: { a: [1] }, nothing: null } });
    const at = (path: string) => `{{ ${id} | json: '$.${path}' }}`;
    const text = `n=${at('n')}, s=${at('s')}; o=${at('o')} nothing=${at('nothing')} missing=${at('missing')}.`;
    expect(await detokenize(service, text)).toBe('n=1.5, s=x; o={"a":[1]} nothing= missing=.');
    expect(await detokenize(service, [at('nothing'), at('missing'), ` ${at('n')}`])).toEqual([null, null, ' 1.5']);
    const json = `{"a":"${at('s')}","b":{"c":${at('n')}}}`;
    expect(await detokenize(service, json)).toBe('{"a":"x","b":{"c":1.5}}');
  });

  test('many filters in a row work on typed data', async ({ service }) => {
    const { id } = await create(service, { type: 'bank', data: bank });
    const body = {
      whole: `{{ ${id} }}`,
      last: `{{${id}|json:"$.account_number"|last4}}`,
      chain: `{{ ${id} | json: '$.routing_number' | slice: 0, 3 | append: ' | }} ' | append: data.account_number }}`,
      keyed: `{{ ${id} | json: "$['routing_number']" | size }}`,
    };
    expect(await detokenize(service, body)).toEqual({
      whole: bank,
      last: '0042',
      chain: '021 | }} 00042',
      keyed: 9,
    });
  });

  test.for([
    ["o'brien's token"],
    ['she said "hi"'],
    ["it's | not"],
    ['-dashes-'],
    ['token:x'],
    ['data'],
    ['data.number'],
    ['äöü 漢字 🔑'],
    ["'"],
    ['a@b.example:1,2!~`$*()_;'],
  ])('an id may be %s', async ([name], { service }) => {
    const id = `${name}`.replace(/ \| .*/, '').padEnd(3, '_');
    await create(service, { id, type: 'token', data: { value: [id] } });
    const body = [`{{ ${id} }}`, `<{{ ${id} | json: '$.value[0]' }}>`, `{{ token: ${id} | json: '$.id' }}`];
    expect(await detokenize(service, body)).toEqual([{ value: [id] }, `<${id}>`, id]);
  });

  test.for([
    ['null', null],
    ['text', 'just text'],
    ['empty', {}],
    ['a tag', '{% if %} } { %}'],
  ] as const)('a body without expressions stays unchanged: %s', async ([, body], { service }) => {
    expect(await detokenize(service, body)).toEqual(body);
  });

  test('a cvc is part of the data until exactly its purge time', async ({ service }) => {
    const data = { number: '4242424242424242', cvc: '987' };
    const { id } = await create(service, { type: 'card', data });
    const body = [`{{ ${id} }}`, `{{ ${id} | json: '$.cvc' }}`, `{{ token: ${id} | json: '$.data.cvc' }}`];
    service.clock.advance(hourMs - 1);
    expect(await detokenize(service, body)).toEqual([data, '987', '987']);
    service.clock.advance(1);
    expect(await detokenize(service, body)).toEqual([{ number: data.number }, null, null]);
  });

  test('100 ids and 1,000 expressions are allowed', async ({ service }) => {
    const ids = await service.call(
      'POST',
      '/tokenize',
      Array.from({ length: 100 }, (_, i) => i),
    );
    const names: string[] = JSON.parse(ids.text);
    const body: Json = Array(10).fill(names.map((id) => `{{ ${id} }}`));
    expect(await detokenize(service, body)).toEqual(Array(10).fill(names.map((_, i) => i)));
  });
});

describe('200 there is only one pass, so token values are not evaluated again', () => {
  test('token values, keys and the results of filters are not evaluated again', async ({ service }) => {
    const secret = await createPlain(service, { data: 'top secret' });
    const at = `{{ ${secret.id} }}`;
    const hostile = await createPlain(service, { data: { v: at, [at]: at, half: `{{ ${secret.id}`, list: [at] } });
    const of = (path: string) => `{{ ${hostile.id} | json: '${path}' }}`;
    const body = [`{{ ${hostile.id} }}`, of('$.v'), `${of('$.half')} }}`.replace(' }}', ''), `x ${of('$.list')}`];
    const answer = JSON.stringify(await detokenize(service, body));
    expect(answer).toContain(at);
    expect(answer).not.toContain('top secret');
    const built = `{{ ${hostile.id} | json: '$.half' | append: ' ' | append: '}}' }}`;
    expect(await detokenize(service, built)).toBe(at);
  });

  test('in a token object, the mask, metadata and id of a hostile token are plain text', async ({ service }) => {
    const secret = await createPlain(service, { data: 'top secret' });
    const at = `{{ ${secret.id} }}`;
    const metadata = { k: at };
    const { id } = await create(service, { id: uniqueId(), type: 'token', data: at, mask: 'x', metadata });
    expect(await detokenize(service, `{{ token: ${id} }}`)).toMatchObject({ data: at, metadata });
  });
});
