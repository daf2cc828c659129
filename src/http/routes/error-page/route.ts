import { html } from '../../pages/html.js';
import { pageText, sendPage } from '../../pages/send-page.js';
import { Problem } from '../../problem.js';
import { type ProblemCode, problemCatalogue } from '../../problem-catalogue.js';
import type { Routes } from '../../routes.js';
import { errorPageOperation as operation } from './operation.js';

/** `GET /errors/{code}`: what the `type` of a problem leads to. */
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
