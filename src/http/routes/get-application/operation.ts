import { documented } from '../../openapi/operation.js';
import { application } from '../../openapi/schemas/application.js';
import { applicationExample } from '../../openapi/schemas/directory-examples.js';

export const getApplicationOperation = documented({
  id: 'getApplication',
  tag: 'Applications',
  summary: 'Get an application',
  pathParameters: { id: 'The id of the application.' },
  answers: { 200: { description: 'The application.', schema: application, example: applicationExample } },
  problems: ['application_not_found'],
});
