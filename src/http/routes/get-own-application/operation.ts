import { documented } from '../../openapi/operation.js';
import { application } from '../../openapi/schemas/application.js';
import { applicationExample } from '../../openapi/schemas/directory-examples.js';

export const getOwnApplicationOperation = documented({
  id: 'getOwnApplication',
  tag: 'Applications',
  summary: 'Get the calling application',
  description: 'The application whose key came with the request.',
  answers: { 200: { description: 'The application.', schema: application, example: applicationExample } },
});
