import { describe, expect, test } from 'vitest';
import {
  as,
  at,
  create,
  directoryAfter,
  issue,
  manager,
  operator,
  outcome,
  reader,
  tenant,
  update,
} from './support.js';

const last = 'last';
const administrates = ['application:create', 'application:update'] as const;

describe('the last application that can create and update applications is protected from', () => {
  const losing = [
    ['deletion', { kind: 'delete_application', id: last }],
    ['losing application:create', update(last, ['application:update', 'application:delete'])],
    ['losing application:update', update(last, ['application:create', 'application:delete'])],
    ['an expiry', update(last, [...administrates], { expiresAt: at + 1 })],
    ['losing its last key', { kind: 'revoke_key', id: last, keyId: `${last}-1` }],
  ] as const;
  const alone = [tenant, create(last, manager()), create('reader', reader)];

  test.for(losing)('%s', ([, command]) => {
    for (const actor of [as(last), operator]) {
      expect(outcome(actor, command, directoryAfter(...alone)), actor.kind).toBe('last_administrator');
    }
  });

  test.for(losing)('%s, even if there are applications that do not count', ([, command]) => {
    const others = [
      create('halves', manager(['application:create'])),
      create('other half', manager(['application:update'])),
      create('expiring', { ...manager(), expiresAt: at + 1_000_000 }),
      create('keyless', manager()),
      { kind: 'revoke_key', id: 'keyless', keyId: 'keyless-1' } as const,
    ];
    expect(outcome(operator, command, directoryAfter(...alone, ...others))).toBe('last_administrator');
  });

  test.for(losing)('%s, but not if there is another administrator', ([, command]) => {
    const two = directoryAfter(...alone, create('other', manager([...administrates])));
    expect(outcome(as(last), command, two)).toHaveLength(1);
  });

  test('nothing else, such as losing other permissions or one of two keys', () => {
    const directory = directoryAfter(...alone, issue(last, 'last-2'));
    expect(outcome(as(last), update(last, [...administrates]), directory)).toEqual(['application.updated']);
    expect(outcome(as(last), { kind: 'revoke_key', id: last, keyId: 'last-1' }, directory)).toEqual([
      'application.key.revoked',
    ]);
  });
});
