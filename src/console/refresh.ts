import type { FastifyReply } from 'fastify';

const seconds = '2';

/** Makes the browser reload the page every two seconds while work is running. This needs no script. */
export function refreshWhile(isRunning: boolean, reply: FastifyReply): void {
  if (isRunning) reply.header('refresh', seconds);
}
