import { Problem } from '../../problem.js';
import { type ProblemCode, problemCatalogue } from '../../problem-catalogue.js';
import type { Routes } from '../../routes.js';

/** `GET /errors/{code}`: what the `type` of a problem leads to. */
export const errorPageRoute: Routes = (app) => {
  app.get<{ Params: { readonly code: string } }>('/errors/:code', async (request, reply) => {
    const { code } = request.params;
    if (!Object.hasOwn(problemCatalogue, code)) throw new Problem('not_found');
    const { status, title, detail, advice } = problemCatalogue[code as ProblemCode];
    const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${title}</title>
<h1>${title}</h1>
<p>Status ${status}, code <code>${code}</code>.</p>
<p>${detail}</p>
<h2>What to do</h2>
<p>${advice}</p>
</html>
`;
    return reply.header('content-type', 'text/html; charset=utf-8').send(page);
  });
};
