import { documented } from '../../openapi/operation.js';
import { issuedApiKey } from '../../openapi/schemas/api-key.js';
import { apiKeyExample, keyExample } from '../../openapi/schemas/directory-examples.js';

export const issueKeyOperation = documented({
  id: 'issueKey',
  tag: 'Applications',
  summary: 'Issue a key',
  description:
    'A further key of an application, of at most three that live. It is shown in this answer and never again.',
  pathParameters: { id: 'The id of the application.' },
  requestHeaders: ['SERVICE-IDEMPOTENCY-KEY'],
  answers: {
    201: {
      description: 'The key. A repeat with the same idempotency key does not show it.',
      headers: ['Location'],
      schema: issuedApiKey,
      example: { ...apiKeyExample, key: keyExample },
    },
  },
  problems: [
    ...(['validation_failed', 'exceeds_own_permissions', 'application_not_found', 'too_many_keys'] as const),
    ...(['idempotency_in_flight', 'idempotent_result_gone'] as const),
  ],
});
