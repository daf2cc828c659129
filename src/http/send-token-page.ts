import type { FastifyReply } from 'fastify';
import type { TokenPage } from '../commands/tokens/token-page.js';

/** Sends a page of whole token objects (contract, section 2); never to be stored by anything on the way. */
export function sendTokenPage(reply: FastifyReply, { tokens, total, page, size }: TokenPage): FastifyReply {
  const pagination = {
    total_items: total,
    page_number: page,
    page_size: size,
    total_pages: Math.ceil(total / size),
  };
  return reply
    .code(200)
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(JSON.stringify({ pagination, data: tokens.map(({ body }) => body.reveal()) }));
}
