import { z } from 'zod';
import { documented } from '../openapi/operation.js';
import { html } from '../pages/html.js';
import { pageText, sendPage } from '../pages/send-page.js';
import { Problem } from '../problem/problem.js';
import { type ProblemCode, problemCatalogue } from '../problem/problem-catalogue.js';
import type { Routes } from '../routes.js';

const operation = documented({
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
  app.get<{ Params: { readonly code: string } }>('/errors/:code', { config: { operation } }, async (request, reply) => {
    const { code } = request.params;
    if (!Object.hasOwn(problemCatalogue, code)) throw new Problem('not_found');
    const { status, title, detail, advice } = problemCatalogue[code as ProblemCode];
    const body = html`<div class="page">
<h1>${title}</h1>
<p>Status ${status}, code <code>${code}</code></p>
<p>${detail}</p>
<h4>What to do</h4>
<p>${advice}</p>
<p><a href="/docs">Reference of all operations</a></p>
</div>`;
    return sendPage(reply, pageText(title, body));
  });
};
