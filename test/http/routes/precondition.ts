import { describe, expect } from 'vitest';
import type { Answer, TestService } from '../../support/test-service.js';
import { create, expectRefusal, path, read, test } from './support.js';

type Call = (service: TestService, path: string, headers: Record<string, string>) => Promise<Answer>;

/**
 * Tests that a route returns 412 if a precondition fails. `call` sends a request that would succeed for a card with a
 * cvc.
 */
export function heedsPreconditions(call: Call): void {
  const body = { type: 'card', data: { number: '4242424242424242', cvc: '123' } };

  describe('412 if If-Match names another revision', () => {
    test.for([
      '"0"',
      '"2", "3"',
      'W/"1"',
      '1',
      '""',
      '',
      '"*"',
      '"x,*,y"',
      '"01"',
      '"1',
      '*, "0"',
      'w/"1"',
      '"1"x',
      'x"1"',
      '"1" "0"',
      '"W/1"',
      '"x,"1"',
      '"x, "1"',
      '"1""',
      '""1"',
      '"0", "x, "1"',
    ])('%s', async (ifMatch, { service }) => {
      const { id } = await create(service, body);
      await service.call('PATCH', path(id), { metadata: { a: 'b' } });
      const before = await read(service, id);
      const send = () => call(service, path(id), { 'if-match': ifMatch });
      await expectRefusal(service, send, { status: 412, code: 'precondition_failed' });
      expect(await read(service, id)).toEqual(before);
      const answer = await call(service, path(id), { 'if-match': '"0", "1"' });
      expect(answer.status, answer.text).toBeLessThan(300);
    });

    test('404 comes first if the token does not exist, even with *', async ({ service }) => {
      const send = () => call(service, '/tokens/unknown', { 'if-match': '*' });
      await expectRefusal(service, send, { status: 404, code: 'token_not_found' });
    });
  });
}
