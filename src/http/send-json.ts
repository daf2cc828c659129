import type { FastifyReply } from 'fastify';
import type { Json } from '../domain/json.js';

/** Sends what no one on the way may store. */
export function sendJson(reply: FastifyReply, status: 200 | 201, body: Json): FastifyReply {
  return reply
    .code(status)
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(JSON.stringify(body));
}
