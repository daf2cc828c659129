import type { FastifyReply } from 'fastify';
import { type Html, html } from './html.js';

/** Nothing but our own style sheet is loaded, nothing runs, and no other site can frame the page. */
const contentSecurityPolicy =
  "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export const stylePath = '/docs/style.css';

/** A page of ours as text. */
export function pageText(title: string, body: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="stylesheet" href="${stylePath}">
</head>
<body>
${body}
</body>
</html>
`.html;
}

/** Sends a page of ours. It holds nothing of a request. */
export function sendPage(reply: FastifyReply, page: string | Buffer): FastifyReply {
  return reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', contentSecurityPolicy)
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer')
    .send(page);
}
