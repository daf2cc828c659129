import { z } from 'zod';
import { openApiDocument } from '../openapi/openapi.js';
import { documented } from '../openapi/operation.js';
import { referencePage } from '../openapi/reference-page.js';
import { script } from '../pages/script.js';
import { pageText, scriptPath, sendPage, stylePath } from '../pages/send-page.js';
import { style } from '../pages/style.js';
import type { Routes } from '../routes.js';

const docsOperation = documented({
  id: 'showReference',
  tag: 'Service',
  summary: 'The API reference as a page',
  answers: { 200: { description: 'An HTML page.', schema: z.string(), mediaType: 'text/html' } },
});

const styleOperation = documented({
  id: 'showStyle',
  tag: 'Service',
  summary: 'The style sheet for the pages',
  answers: { 200: { description: 'A style sheet.', schema: z.string(), mediaType: 'text/css' } },
});

const scriptOperation = documented({
  id: 'showScript',
  tag: 'Service',
  summary: 'The script for the reference',
  answers: { 200: { description: 'A script.', schema: z.string(), mediaType: 'text/javascript' } },
});

/**
 * `GET /docs` shows the OpenAPI document as one page that loads nothing from other hosts (docs/contract.md, "Operations
 * routes"). Threat: an attacker without a key requests the page many times. Rendering takes 15 ms, so the page is
 * rendered only once.
 */
export const docsRoute: Routes = (app) => {
  let page: Buffer | null = null;
  app.get('/docs', { config: { operation: docsOperation } }, async (_request, reply) => {
    page ??= Buffer.from(pageText('Strongroom: reference', referencePage(openApiDocument(app)), 'own'));
    return sendPage(reply, page, 'own');
  });
  app.get(stylePath, { config: { operation: styleOperation } }, async (_request, reply) =>
    reply.header('content-type', 'text/css; charset=utf-8').header('x-content-type-options', 'nosniff').send(style),
  );
  app.get(scriptPath, { config: { operation: scriptOperation } }, async (_request, reply) =>
    reply
      .header('content-type', 'text/javascript; charset=utf-8')
      .header('x-content-type-options', 'nosniff')
      .send(script),
  );
};
