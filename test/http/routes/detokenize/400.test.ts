import { describe, expect } from 'vitest';
import type { Json } from '#src/domain/json.js';
import type { TestService } from '../../../support/test-service.js';
import { card, create, createPlain, expectRefusal, hourMs, invalid, path, test, uniqueId } from '../support.js';

const post = (service: TestService, body: Json, key?: string) => () =>
  service.call('POST', '/detokenize', undefined, { raw: JSON.stringify(body), ...(key === undefined ? {} : { key }) });

describe('400 each unknown id is named once, where it first occurs', () => {
  test('for unknown, deleted and expired tokens and those of another tenant, in one response', async ({ service }) => {
    const expires_at = new Date(service.clock.now() + hourMs).toISOString();
    const known = await createPlain(service);
    const deleted = await createPlain(service);
    const expired = await createPlain(service, { expires_at });
    const foreign = await create(service, { type: 'token', data: 1 }, { key: await service.otherTenant() });
    await service.call('DELETE', path(deleted.id));
    service.clock.advance(hourMs);
    const [a, b, c, d] = [uniqueId(), deleted.id, expired.id, foreign.id];
    const body = {
      known: `{{ ${known.id} }}`,
      list: [`{{ ${a} }} {{ ${b} }}`],
      c: `{{ ${c} | last4 }}`,
      d: `{{ ${d} }}`,
    };
    const again = { ...body, e: `{{ ${a} }}` };
    const answer = await expectRefusal(service, post(service, again), invalid('list[0]', 'c', 'd'));
    expect(answer.body['errors']).toEqual({
      'list[0]': [`refers to an unknown token: ${a}`, `refers to an unknown token: ${b}`],
      c: [`refers to an unknown token: ${c}`],
      d: [`refers to an unknown token: ${d}`],
    });
  });

  test.for([
    ['a card number', '4242424242424242'],
    ['a card number in groups', '4242 4242-4242 4242'],
    ['a card number with a word', `card ${card.number}`],
    ['an account number', '12345678'],
    ['an id that no token can have', 'a&b'],
  ])('%s in place of an id is not repeated', async ([, id], { service }) => {
    const answer = await expectRefusal(service, post(service, { a: `{{ ${id} }}` }), invalid('a'));
    expect(answer.body['errors']).toEqual({ a: ['refers to an unknown token'] });
  });
});

describe('400 malformed expressions', () => {
  test.for([
    ['unbalanced braces', '{{ x'],
    ['a closing pair alone', 'x }}'],
    ['one brace', '{{ x }'],
    ['an opening pair inside', '{{ x {{ y }} }}'],
    ['three braces', '{{{ x }}}'],
    ['no id', '{{ }}'],
    ['no id before the filter', '{{ | last4 }}'],
    ['an unclosed quote', "{{ {id} | append: 'x }}"],
    ['no filter', '{{ {id} | }}'],
    ['an unknown filter', '{{ {id} | eval }}'],
    ['an alias filter', '{{ {id} | alias_card: true, true }}'],
    ['a wrong argument', '{{ {id} | reveal_last }}'],
    ['another variable', '{{ {id} | append: metadata.k }}'],
    ['a range', '{{ {id} | append: (1..3) }}'],
    ['too many filters', `{{ {id} ${'| last4'.repeat(21)} }}`],
    ['too long', `{{ {id} | append: '${'x'.repeat(4_000)}' }}`],
    ['more than a chain', '{{ {id} | last4 }} {{ {id} | last4 | }}'],
  ])('%s', async ([, text], { service }) => {
    const { id } = await createPlain(service);
    const leaf = `${text}`.replaceAll('{id}', id);
    const answer = await expectRefusal(service, post(service, { a: { b: ['ok', leaf] } }), invalid('a.b[1]'));
    expect(answer.text).not.toContain(id);
    await expectRefusal(service, post(service, leaf), invalid('body'));
  });

  test('several errors are reported at once, but at most 20', async ({ service }) => {
    for (const text of ['{{', '{{ an-id | no_filter }}']) {
      const answer = await post(service, Array(50).fill(text))();
      expect(Object.keys(answer.body['errors'] ?? {}).length, text).toBe(20);
    }
  });
});

describe('400 expressions that cannot be evaluated', () => {
  test.for([
    ['an impossible cast', '| to_number'],
    ['a path to several values', "| json: '$.*'"],
    [
      'a result over 512 KiB',
      "| pad_left: 10000, 'x' | replace: 'x', 'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy'",
    ],
  ])('the error for %s names its location, never the value', async ([, filters], { service }) => {
    const { id } = await createPlain(service, { data: 'the secret' });
    const answer = await expectRefusal(service, post(service, [`a {{ ${id} ${filters} }}`]), invalid('[0]'));
    expect(answer.text).not.toContain('the secret');
    expect(answer.text).toContain('the expression at character 3');
  });

  test('a response over 8 MiB', async ({ service }) => {
    const { id } = await createPlain(service, { data: 'x'.repeat(500_000), fingerprint_expression: 'one' });
    const at = (count: number) => Array(count).fill(`{{ ${id} }}`) as Json;
    expect((await post(service, at(16))()).status).toBe(200);
    await expectRefusal(service, post(service, at(17)), invalid('[16]'));
    const filtered = Array(40).fill(`{{ ${id} | upcase }}`) as Json;
    expect((await post(service, filtered)()).status).toBe(400);
  });
});

describe('400 a body that', () => {
  test('names more than 100 ids, or has more than 1,000 expressions', async ({ service }) => {
    const { id } = await createPlain(service);
    const many = Array.from({ length: 101 }, (_, i) => `{{ id-${i} }}`);
    await expectRefusal(service, post(service, many), invalid('body'));
    await expectRefusal(service, post(service, many.join(' ')), invalid('body'));
    await expectRefusal(service, post(service, Array(1_001).fill(`{{ ${id} }}`) as Json), invalid('body'));
  });

  test('is missing, has another media type, or is too large', async ({ service }) => {
    await expectRefusal(service, () => service.call('POST', '/detokenize'), invalid('body'));
    const headers = { 'content-type': 'text/plain' };
    const text = () => service.call('POST', '/detokenize', 'x', { headers });
    await expectRefusal(service, text, { status: 415, code: 'unsupported_media_type' });
    const large = post(service, 'x'.repeat(4 * 1024 * 1024));
    await expectRefusal(service, large, { status: 413, code: 'body_too_large' });
  });
});
