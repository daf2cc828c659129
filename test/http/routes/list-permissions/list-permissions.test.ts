import { describe, expect } from 'vitest';
import { arrayOf, makeApplication } from '../directory-support.js';
import { test } from '../support.js';

describe('200 GET /permissions', () => {
  test('all nineteen permissions are listed, whatever the key is', async ({ service }) => {
    const { key } = await makeApplication(service, { type: 'public', permissions: ['token:create'] });
    const all = arrayOf(await service.call('GET', '/permissions', undefined, { key }));
    expect(all).toHaveLength(19);
    expect(all).toContainEqual({
      type: 'token:create',
      description: expect.stringMatching(/\S/),
      application_types: ['private', 'public'],
    });
  });

  test.for([
    ['private', ['token:create', 'token:read', 'token:update', 'token:delete', 'token:search', 'token:use']],
    ['public', ['token:create', 'token:update']],
    ['nothing', []],
  ] as const)('those for a %s application can be requested', async ([type, expected], { service }) => {
    const listed = arrayOf(await service.call('GET', `/permissions?application_type=${type}`));
    expect(listed.map((entry) => entry['type'])).toEqual(expected);
  });

  test('the permissions for a management application include none for tokens', async ({ service }) => {
    const listed = arrayOf(await service.call('GET', '/permissions?application_type=management'));
    expect(listed).toHaveLength(13);
    expect(listed.map((entry) => entry['type'])).not.toContainEqual(expect.stringMatching(/^token:/));
  });
});
