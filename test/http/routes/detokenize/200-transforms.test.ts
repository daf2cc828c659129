import { describe, expect } from 'vitest';
import type { JsonObject } from '#src/domain/json.js';
import { rule } from '../../../support/test-service.js';
import { detokenize } from '../batch.js';
import { card, create, createPlain, test } from '../support.js';

const use = ['token:use'] as const;
const number = card.number;

describe('200 the transform comes from the rule that decides token:use', () => {
  test('plain token:use reveals', async ({ service }) => {
    const { id } = await create(service, { type: 'card_number', data: number });
    const key = await service.application(['token:use']);
    expect(await detokenize(service, `{{ ${id} }}`, { key })).toBe(number);
  });

  test('each token is shown under its own rule, and rules for reading do not count', async ({ service }) => {
    const key = await service.application([
      rule('/reveal/', 'reveal', use),
      rule('/mask/', 'mask', use),
      rule('/', 'redact', use, 2),
      rule('/', 'reveal', ['token:read', 'token:search'], 0),
    ]);
    const ids = await Promise.all(
      ['/reveal/x/', '/mask/', '/other/'].map(async (container) => {
        const { id } = await create(service, { type: 'card_number', data: number, containers: [container] });
        return `{{ ${id} }}`;
      }),
    );
    expect(await detokenize(service, ids, { key })).toEqual([number, 'XXXXXXXXXXXX4242', null]);
    expect(await detokenize(service, `<${ids.join('|')}>`, { key })).toBe(`<${number}|XXXXXXXXXXXX4242|>`);
  });

  test('under redact, every expression is null, even if its filters would turn null into a value', async ({
    service,
  }) => {
    const { id } = await createPlain(service, { data: { a: 1 } });
    const key = await service.application([rule('/', 'redact', use)]);
    for (const filters of ['', "| append: 'x'", "| json: '$.a' | to_string", '| stringify | size']) {
      expect(await detokenize(service, `{{ ${id} ${filters} }}`, { key })).toBeNull();
    }
  });

  test('under mask, a token without a mask is redacted', async ({ service }) => {
    const { id } = await createPlain(service, { data: 'secret' });
    const key = await service.application([rule('/', 'mask', use)]);
    const body = [`{{ ${id} }}`, `{{ ${id} | append: 'x' }}`, `a{{ ${id} }}b`];
    expect(await detokenize(service, body, { key })).toEqual([null, null, 'ab']);
  });
});

describe('200 filters do not help to find out data that the caller may not see', () => {
  test('they run on the masked value', async ({ service }) => {
    const { id } = await create(service, { type: 'card', data: card, metadata: { k: 'v' } });
    const key = await service.application([rule('/', 'mask', use)]);
    const filters = {
      stringify: '| stringify',
      bin: "| json: '$.number' | card_bin",
      digits: "| json: '$.number' | remove: 'X'",
      starts: "| json: '$.number' | replace: '4242X', 'hit'",
      split: "| json: '$.number' | split: '42424242'",
      cvc: "| json: '$.cvc'",
      argument: "| json: '$.cvc' | append: data.cvc | append: data.number",
      unmask: "| json: '$.number' | card_mask: 'true', 'true'",
      reveal: "| json: '$.number' | reveal: 16, 16",
    };
    const body = Object.fromEntries(Object.entries(filters).map(([name, chain]) => [name, `{{ ${id} ${chain} }}`]));
    const answer = (await detokenize(service, body, { key })) as JsonObject;
    expect(JSON.stringify(answer)).not.toMatch(/42424|123"/);
    expect(answer).toMatchObject({ bin: null, digits: '4242', cvc: null, argument: 'XXXXXXXXXXXX4242' });
  });

  test('sizes, casts and errors are those of the masked value', async ({ service }) => {
    const key = await service.application([rule('/', 'mask', use)]);
    const answers = await Promise.all(
      ['1234567', 'secret text', `${'9'.repeat(40)}`].map(async (data) => {
        const { id } = await createPlain(service, { data, mask: 'hidden' });
        const cast = await service.call('POST', '/detokenize', { a: `{{ ${id} | to_number }}` }, { key });
        const size = await detokenize(service, `{{ ${id} | size }}`, { key });
        return { status: cast.status, errors: cast.body['errors'], size };
      }),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 400, size: 6 });
  });
});
