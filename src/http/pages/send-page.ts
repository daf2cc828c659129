import type { FastifyReply } from 'fastify';
import { type Html, html } from './html.js';

/** The page loads only our own style sheet and runs no scripts, and no other site can frame it. */
const contentSecurityPolicy =
  "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export const stylePath = '/docs/style.css';

/** Returns one of our pages as HTML text. */
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

/** Sends one of our pages. It contains nothing from a request. */
export function sendPage(reply: FastifyReply, page: string | Buffer): FastifyReply {
  return reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', contentSecurityPolicy)
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer')
    .send(page);
}
