import { managementPermissions } from '#src/domain/access/permission.js';
import { expectRefusal, test } from '../support.js';

const refused = { status: 403, code: 'permission_missing' };

test('an application without log:read gets 403 before the query is validated', async ({ service }) => {
  const others = managementPermissions.filter((permission) => permission !== 'log:read');
  const key = await service.application(others, 'management');
  await expectRefusal(service, () => service.call('GET', '/logs?page=0', undefined, { key }), refused);
  await expectRefusal(service, () => service.call('GET', '/logs?page=0'), refused);
});
