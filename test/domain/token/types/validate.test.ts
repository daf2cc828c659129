import { describe, expect, it } from 'vitest';
import type { Json } from '#src/domain/json.js';
import { type TokenType, tokenTypes } from '#src/domain/token/types/token-type.js';
import { typeRules } from '#src/domain/token/types/type-rules.js';

const bank = { routing_number: '021000021', account_number: '1' };

describe('data that its type accepts is stored unchanged', () => {
  it.each<[TokenType, Json]>([
    ['token', 'text'],
    ['token', ''],
    ['token', 0],
    ['token', false],
    ['token', []],
    ['token', { cvv: '123', nested: { pin: null } }],
    ['card', { number: '4242424242424242' }],
    ['card', { number: '630400000000' + '', name: null, tags: [{ a: 1 }] }],
    ['card', { number: '4242424242424242', expiration_month: 1, expiration_year: 1999 }],
    ['bank', bank],
    ['bank', { ...bank, account_number: '12345678901234567', cvv: 'kept', extra: null }],
    ['card_number', '4222222222222'],
    ['card_number', '4000000000000000006'],
    ['us_bank_account_number', '000'],
    ['us_bank_account_number', '12345678901234567'],
    ['us_bank_routing_number', '021000021'],
    ['social_security_number', '123-45-6789'],
    ['social_security_number', '123456789'],
    ['employer_id_number', '12-3456789'],
    ['employer_id_number', '000000000'],
  ])('%s %j', (type, data) => {
    expect(typeRules[type].validate(data)).toEqual({ ok: true, value: { data, cvc: null } });
  });
});

describe('data that its type does not accept is rejected with the invalid path', () => {
  it.each<[TokenType, Json, readonly string[]]>([
    ['card', '4242424242424242', ['data']],
    ['card', [], ['data']],
    ['card', {}, ['data.number']],
    ['card', { number: null }, ['data.number']],
    ['card', { number: 4242424242424242 }, ['data.number']],
    ['card', { number: '4242424242424241' }, ['data.number']],
    ['card', { number: '4242 4242 4242 4242' }, ['data.number']],
    ['card', { number: '42424242420' }, ['data.number']],
    ['card', { number: '00000000000000000000' }, ['data.number']],
    ['card', { number: '４２４２４２４２４２４２４２４２' }, ['data.number']],
    ['card', { number: '4242424242424242\n' }, ['data.number']],
    ['bank', 'x', ['data']],
    ['bank', {}, ['data.routing_number', 'data.account_number']],
    ['bank', { ...bank, routing_number: '021000022' }, ['data.routing_number']],
    ['bank', { ...bank, routing_number: '000000000' }, ['data.routing_number']],
    ['bank', { ...bank, routing_number: 21000021 }, ['data.routing_number']],
    ['bank', { ...bank, account_number: '' }, ['data.account_number']],
    ['bank', { ...bank, account_number: '123456789012345678' }, ['data.account_number']],
    ['bank', { ...bank, account_number: '12-34' }, ['data.account_number']],
    ['card_number', { number: '4242424242424242' }, ['data']],
    ['card_number', '630400000000', ['data']],
    ['card_number', '4242424242424243', ['data']],
    ['us_bank_account_number', '12', ['data']],
    ['us_bank_account_number', '123456789012345678', ['data']],
    ['us_bank_account_number', 12345, ['data']],
    ['us_bank_account_number', '１２３４５', ['data']],
    ['us_bank_routing_number', '02100002', ['data']],
    ['us_bank_routing_number', '0210000210', ['data']],
    ['us_bank_routing_number', '000000000', ['data']],
    ['social_security_number', '12345678', ['data']],
    ['social_security_number', '1234567890', ['data']],
    ['social_security_number', '123 45 6789', ['data']],
    ['social_security_number', '-123456789', ['data']],
    ['social_security_number', '123-45-6789-', ['data']],
    ['social_security_number', '123--456789', ['data']],
    ['social_security_number', 123456789, ['data']],
    ['employer_id_number', '12-345678', ['data']],
  ])('%s %j', (type, data, paths) => {
    const checked = typeRules[type].validate(data);
    expect(checked.ok ? checked.value : Object.keys(checked.errors)).toEqual(paths);
  });

  it.each(tokenTypes)('%s rejects null data', (type) => {
    const checked = typeRules[type].validate(null);
    expect(checked.ok ? checked.value : Object.keys(checked.errors)).toEqual(['data']);
  });

  it('a message never repeats a value', () => {
    const checked = typeRules.card.validate({ number: '4242424242424241', cvc: '98765', expiration_year: '203055' });
    expect(JSON.stringify(checked)).not.toMatch(/4241|98765|203055/);
  });
});
