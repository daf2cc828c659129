import { expect, test } from 'vitest';
import { openedBy } from '#src/console/groups.js';

const none = { tenantId: null, private: null, management: null, isOperator: false };
const rules = [
  { ...none, group: 'operators', isOperator: true },
  { ...none, group: 'support', tenantId: 'a', private: 'a-support' },
  { ...none, group: 'other', tenantId: 'b', private: 'b-private', management: 'b-management', isOperator: true },
  { ...none, group: 'audit', tenantId: 'a', private: 'a-audit', management: 'a-management' },
];

test.each([
  ['no group', [], none],
  ['an unknown group', ['Support'], none],
  ['operators only', ['operators'], { ...none, isOperator: true }],
  ['one application', ['support'], { ...none, tenantId: 'a', private: 'a-support' }],
  [
    'the first of each kind, whatever the order in the claim',
    ['audit', 'support'],
    { ...none, tenantId: 'a', private: 'a-support', management: 'a-management' },
  ],
  [
    'no application of a second tenant',
    ['other', 'support'],
    { ...none, tenantId: 'a', private: 'a-support', isOperator: true },
  ],
])('groups open %s', (_what, groups, opened) => {
  expect(openedBy(rules, groups)).toEqual(opened);
});
