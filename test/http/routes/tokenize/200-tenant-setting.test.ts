import { expect } from 'vitest';
import { tokenize } from '../batch.js';
import { operationsOn } from '../list-logs/support.js';
import { test, uniqueId } from '../support.js';

test('200 if the tenant’s setting is on, bare values are deduplicated', async ({ service }) => {
  const same = uniqueId();
  const [one, two] = (await tokenize(service, [same, same])) as string[];
  expect(one).not.toBe(two);
  const tenant = { name: 'test', settings: { deduplicate_tokens: 'true' } };
  const changed = await service.call('PUT', '/tenants/self', tenant, { key: service.managementKey });
  expect(changed.status, changed.text).toBe(200);
  const value = uniqueId();
  const [first, second, again] = (await tokenize(service, [value, value, same])) as string[];
  expect(second).toBe(first);
  expect([one, two]).toContain(again);
  expect(await tokenize(service, { deep: [value] })).toEqual({ deep: [first] });
  // The responses show only the id of a bare value's token, so they do not reveal the token.
  expect(await operationsOn(service, String(first))).toEqual(['create', 'read', 'read']);
});
