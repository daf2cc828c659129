import { z } from 'zod';
import { documented } from '../../openapi/operation.js';

export const errorPageOperation = documented({
  id: 'explainError',
  tag: 'Service',
  summary: 'What a problem means',
  description: 'The page that the `type` of a problem leads to.',
  pathParameters: { code: 'The `code` of the problem.' },
  answers: { 200: { description: 'A page for people.', schema: z.string(), mediaType: 'text/html' } },
  problems: ['not_found'],
});
