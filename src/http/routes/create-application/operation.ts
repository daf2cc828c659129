import { documented } from '../../openapi/operation.js';
import { applicationWithKey } from '../../openapi/schemas/application.js';
import { applicationExample, applicationRequestExample, keyExample } from '../../openapi/schemas/directory-examples.js';

export const createApplicationOperation = documented({
  id: 'createApplication',
  tag: 'Applications',
  summary: 'Create an application',
  description:
    'Makes an application with its first key, which is shown in this answer and never again. A management application ' +
    'is made only by one that holds all of its permissions.',
  requestHeaders: ['SERVICE-IDEMPOTENCY-KEY'],
  requestExample: applicationRequestExample,
  answers: {
    201: {
      description: 'The application with its key. A repeat with the same idempotency key shows no key.',
      headers: ['Location'],
      schema: applicationWithKey,
      example: { ...applicationExample, key: keyExample },
    },
  },
  problems: ['validation_failed', 'exceeds_own_permissions', 'idempotency_in_flight', 'idempotent_result_gone'],
});
