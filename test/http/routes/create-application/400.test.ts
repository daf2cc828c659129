import { describe } from 'vitest';
import { manage } from '../directory-support.js';
import { expectRefusal, invalid, test } from '../support.js';

const good = { name: 'till', type: 'private', permissions: ['token:read'] };
const rule = { container: '/pci/', transform: 'mask', permissions: ['token:read'] };

describe('400 names each invalid field and stores nothing', () => {
  test.for([
    ['no name', { ...good, name: undefined }, ['name']],
    ['an empty name', { ...good, name: '' }, ['name']],
    ['a long name', { ...good, name: 'x'.repeat(201) }, ['name']],
    ['a name with terminal control characters', { ...good, name: 'a\u001b[2J' }, ['name']],
    ['a name that is not a string', { ...good, name: 1 }, ['name']],
    ['no type', { ...good, type: undefined }, ['type']],
    ['an unknown type', { ...good, type: 'root' }, ['type']],
    ['neither permissions nor rules', { ...good, permissions: undefined }, ['permissions']],
    ['both', { ...good, rules: [rule] }, ['rules']],
    ['no permissions', { ...good, permissions: [] }, ['permissions']],
    ['permissions that are not an array', { ...good, permissions: 'token:read' }, ['permissions']],
    ['an unknown permission', { ...good, permissions: ['token:read', 'token:reed'] }, ['permissions[1]']],
    ['51 permissions', { ...good, permissions: Array(51).fill('token:read') }, ['permissions']],
    ['private: a management permission', { ...good, permissions: ['application:create'] }, ['permissions[0]']],
    ['public: a permission to read', { ...good, type: 'public' }, ['permissions[0]']],
    [
      'public: a rule that reveals',
      { ...good, type: 'public', permissions: null, rules: [{ ...rule, permissions: ['token:use'] }] },
      ['rules[0].permissions[0]'],
    ],
    ['management: a token permission', { ...good, type: 'management' }, ['permissions[0]']],
    ['management: rules', { name: 'x', type: 'management', rules: [rule] }, ['rules']],
    [
      'a rule without container',
      { ...good, permissions: null, rules: [{ ...rule, container: undefined }] },
      ['rules[0].container'],
    ],
    [
      'a second rule with a bad transform',
      { ...good, permissions: null, rules: [rule, { ...rule, transform: 'show' }] },
      ['rules[1].transform'],
    ],
    [
      'a rule with a field that might narrow it',
      { ...good, permissions: null, rules: [{ ...rule, condition: 'x' }] },
      ['rules[0]'],
    ],
    ['an impossible expiry', { ...good, expires_at: '2/30/2030' }, ['expires_at']],
    ['an expiry in the past', { ...good, expires_at: '2020-01-01' }, ['expires_at']],
    ['an expiry that is not a string', { ...good, expires_at: 1 }, ['expires_at']],
    [
      'several errors at once',
      { ...good, name: '', permissions: [], expires_at: 'x' },
      ['name', 'permissions', 'expires_at'],
    ],
  ] as const)('%s', async ([, body, paths], { service }) => {
    await expectRefusal(service, () => manage(service, 'POST', '/applications', body), invalid(...paths));
  });

  test('no body, or a body that is not an object', async ({ service }) => {
    await expectRefusal(service, () => manage(service, 'POST', '/applications'), invalid('body'));
    await expectRefusal(service, () => manage(service, 'POST', '/applications', []), invalid('body'));
  });

  test('415 for another media type', async ({ service }) => {
    const options = { key: service.managementKey, headers: { 'content-type': 'text/plain' } };
    const send = () => service.call('POST', '/applications', good, options);
    await expectRefusal(service, send, { status: 415, code: 'unsupported_media_type' });
  });
});
