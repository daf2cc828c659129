import type { FastifyReply } from 'fastify';

const seconds = '2';

/** Makes the browser load the page again after two seconds while work is running. It needs no script. */
export function refreshWhile(isRunning: boolean, reply: FastifyReply): void {
  if (isRunning) reply.header('refresh', seconds);
}
