import { documented } from '../../openapi/operation.js';

export const deleteApplicationOperation = documented({
  id: 'deleteApplication',
  tag: 'Applications',
  summary: 'Delete an application',
  description: 'Its keys stop at once.',
  pathParameters: { id: 'The id of the application.' },
  answers: { 204: { description: 'None of its keys is known any more.' } },
  problems: ['exceeds_own_permissions', 'application_not_found', 'last_administrator'],
});
