import { documented } from '../../openapi/operation.js';

export const deleteTenantOperation = documented({
  id: 'deleteTenant',
  tag: 'Tenants',
  summary: 'Delete the tenant',
  description:
    'Destroys all its keys: none of its tokens can be opened ever again. The body repeats the name of the tenant. After ' +
    '503 the same request finishes it.',
  requestExample: { name: 'Example' },
  answers: { 204: { description: 'Nothing of the tenant can be opened any more, and none of its keys is known.' } },
  problems: ['validation_failed'],
});
