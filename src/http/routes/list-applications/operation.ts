import { documented } from '../../openapi/operation.js';
import { application } from '../../openapi/schemas/application.js';
import { applicationExample } from '../../openapi/schemas/directory-examples.js';
import { pageExample, pageOf } from '../../openapi/schemas/pagination.js';

export const listApplicationsOperation = documented({
  id: 'listApplications',
  tag: 'Applications',
  summary: 'List applications',
  description: 'The living applications of the tenant, the newest first.',
  answers: {
    200: {
      description: 'A page of applications.',
      schema: pageOf(application),
      example: pageExample(applicationExample),
    },
  },
  problems: ['validation_failed'],
});
