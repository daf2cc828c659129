import { z } from 'zod';
import { openApiDocument } from '../openapi/openapi.js';
import { documented } from '../openapi/operation.js';
import type { Routes } from '../routes.js';

const operation = documented({
  id: 'describeService',
  tag: 'Service',
  summary: 'The API description in OpenAPI 3.1',
  answers: {
    200: {
      description: 'The document.',
      schema: z.looseObject({
        openapi: z.string().meta({ description: 'The version of OpenAPI.' }),
        paths: z.looseObject({}).meta({ description: 'The operations by path and method.' }),
      }),
    },
  },
});

/** `GET /openapi.json` (docs/contract.md, "Operations routes"). The document is built only once. */
export const openApiRoute: Routes = (app) => {
  let document: Buffer | null = null;
  app.get('/openapi.json', { config: { operation } }, async (_request, reply) => {
    document ??= Buffer.from(JSON.stringify(openApiDocument(app)));
    return reply.header('content-type', 'application/json; charset=utf-8').send(document);
  });
};
