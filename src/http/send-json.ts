import type { FastifyReply } from 'fastify';
import type { Json } from '../domain/json.js';

/** Sends JSON with token data in it; never to be stored by anything on the way. */
export function sendJson(reply: FastifyReply, body: Json): FastifyReply {
  return reply
    .code(200)
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(JSON.stringify(body));
}
