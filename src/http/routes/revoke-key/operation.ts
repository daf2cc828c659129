import { documented } from '../../openapi/operation.js';

export const revokeKeyOperation = documented({
  id: 'revokeKey',
  tag: 'Applications',
  summary: 'Revoke a key',
  description: 'It stops at once.',
  pathParameters: { id: 'The id of the application.', keyId: 'The id of the key, not the key itself.' },
  answers: { 204: { description: 'The key is not known any more.' } },
  problems: ['exceeds_own_permissions', 'application_not_found', 'application_key_not_found', 'last_administrator'],
});
