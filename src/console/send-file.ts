import type { FastifyReply } from 'fastify';

/** Sends JSON text as a file that the browser saves. `name` is a name of ours. */
export function sendFile(reply: FastifyReply, name: string, json: string): FastifyReply {
  return reply
    .header('cache-control', 'no-store')
    .header('content-disposition', `attachment; filename="${name}"`)
    .type('application/json; charset=utf-8')
    .send(json);
}
