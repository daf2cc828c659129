import { describe, expect } from 'vitest';
import { rule } from '../../../support/test-service.js';
import { detokenize } from '../batch.js';
import { card, create, createPlain, read, test } from '../support.js';

const use = ['token:use'] as const;

describe('200 {{ token: <id> }} becomes the whole token object', () => {
  test('as a get shows it, or part of it if there are filters', async ({ service }) => {
    const { id } = await createPlain(service, { data: { a: 1 }, metadata: { k: 'v' }, containers: ['/a/'] });
    const body = [`{{ token: ${id} }}`, `{{ token:  ${id} | json: '$.containers[0]' }}`, `{{ token: ${id} | size }}`];
    expect(await detokenize(service, body)).toEqual([await read(service, id), '/a/', expect.any(Number)]);
  });

  test.for([
    ['card', card, { bin: '42424242', last4: '4242' }],
    ['card', { number: '378282246310005' }, { bin: '378282', last4: '0005' }],
    ['card_number', '5555555555554444', { bin: '55555555', last4: '4444' }],
  ] as const)('with enrichments for a %s', async ([type, data, card_details], { service }) => {
    const { id } = await create(service, { type, data });
    const shown = await read(service, id);
    expect(await detokenize(service, `{{ token: ${id} }}`)).toEqual({ ...shown, enrichments: { card_details } });
    expect(shown).not.toHaveProperty('enrichments');
  });

  test.for([
    ['token', '4242424242424242'],
    ['social_security_number', '123-45-6789'],
    ['bank', { routing_number: '021000021', account_number: '1234567' }],
  ] as const)('without enrichments for a %s', async ([type, data], { service }) => {
    const { id } = await create(service, { type, data });
    expect(await detokenize(service, `{{ token: ${id} }}`)).not.toHaveProperty('enrichments');
  });

  test('under mask, it has no enrichments, because a BIN is more than the mask shows', async ({ service }) => {
    const { id } = await create(service, { type: 'card', data: card });
    const key = await service.application([rule('/', 'mask', use)]);
    const answer = await detokenize(service, `{{ token: ${id} }}`, { key });
    expect(answer).not.toHaveProperty('enrichments');
    expect(answer).toMatchObject({ id, data: { number: 'XXXXXXXXXXXX4242' } });
    expect(await detokenize(service, `{{ token: ${id} | json: '$.enrichments' }}`, { key })).toBeNull();
  });

  test('also of an id that begins with `token: `, if the prefix is repeated', async ({ service }) => {
    const { id } = await createPlain(service, { data: 'plain' });
    const prefixed = await createPlain(service, { id: `token: ${id}`, data: 'prefixed' });
    const shown = [await read(service, id), await read(service, prefixed.id)];
    expect(await detokenize(service, [`{{ token: ${id} }}`, `{{ token: token: ${id} }}`])).toEqual(shown);
  });

  test('under redact, it is null', async ({ service }) => {
    const { id } = await create(service, { type: 'card', data: card });
    const key = await service.application([rule('/', 'redact', use)]);
    const body = [`{{ token: ${id} }}`, `{{ token: ${id} | json: '$.metadata' | append: 'x' }}`];
    expect(await detokenize(service, body, { key })).toEqual([null, null]);
  });
});
