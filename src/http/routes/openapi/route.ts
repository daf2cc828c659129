import { openApiDocument } from '../../openapi/openapi.js';
import type { Routes } from '../../routes.js';
import { openApiOperation as operation } from './operation.js';

/** `GET /openapi.json` (contract, section 11). The document is made once. */
export const openApiRoute: Routes = (app) => {
  let text: string | null = null;
  app.get('/openapi.json', { config: { operation } }, async (_request, reply) => {
    text ??= JSON.stringify(openApiDocument(app));
    return reply.header('content-type', 'application/json; charset=utf-8').send(text);
  });
};
