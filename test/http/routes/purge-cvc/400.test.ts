import { describe } from 'vitest';
import { create, expectRefusal, invalid, path, test } from '../support.js';

describe('400 only a card has a cvc', () => {
  test.for([
    ['token', { cvc: '123' }],
    ['card_number', '4242424242424242'],
    ['bank', { routing_number: '021000021', account_number: '1', cvc: '123' }],
    ['social_security_number', '123-45-6789'],
  ] as const)('%s', async ([type, data], { service }) => {
    const { id } = await create(service, { type, data });
    await expectRefusal(service, () => service.call('DELETE', `${path(id)}/cvc`), invalid('type'));
  });
});
