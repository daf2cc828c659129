import type { FastifyReply } from 'fastify';

/** Sends JSON text as a file download. `name` must not contain text from a request. */
export function sendFile(reply: FastifyReply, name: string, json: string): FastifyReply {
  return reply
    .header('cache-control', 'no-store')
    .header('content-disposition', `attachment; filename="${name}"`)
    .type('application/json; charset=utf-8')
    .send(json);
}
