import type { FastifyReply } from 'fastify';
import { type Html, html } from './html.js';

export const stylePath = '/docs/style.css';
export const scriptPath = '/docs/script.js';

/**
 * Returns the content security policy of a page. A page loads only our style sheet, runs no script other than ours, and
 * cannot be framed.
 */
const policyOf = (scripts: string) =>
  `default-src 'none'; ${scripts}style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
const scripts = { none: { html: '' }, own: { html: `<script src="${scriptPath}" defer></script>` } };
const policies = { none: policyOf(''), own: policyOf("script-src 'self'; ") };

/** Determines whether a page runs our script. */
type Script = keyof typeof policies;

/** Returns one of our pages as HTML text. */
export function pageText(title: string, body: Html, script: Script = 'none'): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="stylesheet" href="${stylePath}">
${scripts[script]}
</head>
<body>
${body}
</body>
</html>
`.html;
}

/** Sends one of our pages. A page never contains anything from a request. */
export function sendPage(reply: FastifyReply, page: string | Buffer, script: Script = 'none'): FastifyReply {
  return reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', policies[script])
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer')
    .send(page);
}
