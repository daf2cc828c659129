import { z } from 'zod';
import { documented } from '../../openapi/operation.js';

export const openApiOperation = documented({
  id: 'describeService',
  tag: 'Service',
  summary: 'This description, as OpenAPI 3.1',
  answers: {
    200: { description: 'The document.', schema: z.looseObject({ openapi: z.string(), paths: z.looseObject({}) }) },
  },
});
