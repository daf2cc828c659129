import { openApiDocument } from '../../openapi/openapi.js';
import { pageText, sendPage, stylePath } from '../../pages/send-page.js';
import { style } from '../../pages/style.js';
import { referencePage } from '../../reference/reference-page.js';
import type { Routes } from '../../routes.js';
import { docsOperation, styleOperation } from './operations.js';

/**
 * `GET /docs`: the OpenAPI document as one page that loads nothing from elsewhere (contract, section 11). The page is
 * rendered once. Threat: rendering it takes 15 ms, and no key is asked for.
 */
export const docsRoute: Routes = (app) => {
  let page: Buffer | null = null;
  app.get('/docs', { config: { operation: docsOperation } }, async (_request, reply) => {
    page ??= Buffer.from(pageText('Strongroom: reference', referencePage(openApiDocument(app))));
    return sendPage(reply, page);
  });
  app.get(stylePath, { config: { operation: styleOperation } }, async (_request, reply) =>
    reply.header('content-type', 'text/css; charset=utf-8').header('x-content-type-options', 'nosniff').send(style),
  );
};
