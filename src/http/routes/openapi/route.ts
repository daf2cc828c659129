import { openApiDocument } from '../../openapi/openapi.js';
import type { Routes } from '../../routes.js';
import { openApiOperation as operation } from './operation.js';

/** `GET /openapi.json` (contract, section 11). The document is rendered once. */
export const openApiRoute: Routes = (app) => {
  let document: Buffer | null = null;
  app.get('/openapi.json', { config: { operation } }, async (_request, reply) => {
    document ??= Buffer.from(JSON.stringify(openApiDocument(app)));
    return reply.header('content-type', 'application/json; charset=utf-8').send(document);
  });
};
