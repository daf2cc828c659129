import { z } from 'zod';
import { documented } from '../../openapi/operation.js';
import { apiKey } from '../../openapi/schemas/api-key.js';
import { apiKeyExample } from '../../openapi/schemas/directory-examples.js';

export const listKeysOperation = documented({
  id: 'listKeys',
  tag: 'Applications',
  summary: 'List the keys of an application',
  description: 'Its living keys, without the keys themselves.',
  pathParameters: { id: 'The id of the application.' },
  answers: {
    200: {
      description: 'The keys.',
      schema: z.array(apiKey),
      example: [{ ...apiKeyExample, last_used_at: '2026-02-01' }],
    },
  },
  problems: ['application_not_found'],
});
