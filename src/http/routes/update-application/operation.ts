import { documented } from '../../openapi/operation.js';
import { application } from '../../openapi/schemas/application.js';
import { applicationExample, applicationRequestExample } from '../../openapi/schemas/directory-examples.js';

export const updateApplicationOperation = documented({
  id: 'updateApplication',
  tag: 'Applications',
  summary: 'Update an application',
  description:
    'Gives it another name, other permissions or rules, another expiry. It is in force for every key of the application ' +
    'when the answer arrives.',
  pathParameters: { id: 'The id of the application.' },
  requestExample: applicationRequestExample,
  answers: { 200: { description: 'The application as it is now.', schema: application, example: applicationExample } },
  problems: ['validation_failed', 'exceeds_own_permissions', 'application_not_found', 'last_administrator'],
});
