import { z } from 'zod';
import { openApiDocument } from '../openapi/openapi.js';
import { documented } from '../openapi/operation.js';
import { referencePage } from '../openapi/reference-page.js';
import { html, prose } from '../pages/html.js';
import { script } from '../pages/script.js';
import { pageText, scriptPath, sendPage, stylePath } from '../pages/send-page.js';
import { style } from '../pages/style.js';
import { Problem } from '../problem/problem.js';
import { type ProblemCode, problemCatalogue } from '../problem/problem-catalogue.js';
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

const openApiOperation = documented({
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
  app.get('/openapi.json', { config: { operation: openApiOperation } }, async (_request, reply) => {
    document ??= Buffer.from(JSON.stringify(openApiDocument(app)));
    return reply.header('content-type', 'application/json; charset=utf-8').send(document);
  });
};

const errorOperation = documented({
  id: 'explainError',
  tag: 'Service',
  summary: 'Explain a problem',
  description: 'Returns the page that the `type` of a problem links to.',
  pathParameters: { code: 'The `code` of the problem.' },
  answers: { 200: { description: 'An HTML page.', schema: z.string(), mediaType: 'text/html' } },
  problems: ['not_found'],
});

/** `GET /errors/{code}` explains a problem. The `type` of a problem links to this page. */
export const errorPageRoute: Routes = (app) => {
  app.get<{ Params: { readonly code: string } }>(
    '/errors/:code',
    { config: { operation: errorOperation } },
    async (request, reply) => {
      const { code } = request.params;
      if (!Object.hasOwn(problemCatalogue, code)) throw new Problem('not_found');
      const { status, title, detail, advice } = problemCatalogue[code as ProblemCode];
      const body = html`<div class="page">
<h1>${title}</h1>
<p>Status ${status}, code <code>${code}</code></p>
<p>${prose(detail)}</p>
<h4>What to do</h4>
<p>${prose(advice)}</p>
<p><a href="/docs">Reference of all operations</a></p>
</div>`;
      return sendPage(reply, pageText(title, body));
    },
  );
};
