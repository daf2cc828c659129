import { chmod, rm } from 'node:fs/promises';
import { fastify } from 'fastify';
import type { OperatedService } from '../../compose/vault/open-service.js';
import { runOperation } from '../operations/run-operation.js';
import { type OperationName, operations } from '../operations.js';

const bodyBytesMax = 8 * 1024 * 1024;

/**
 * Lets CLI commands run operations in this process while this process has the data open. Serves HTTP on a socket in the
 * data directory that only the socket's owner can open. This process has locked the directory, so an existing socket is
 * left over from an earlier process and is removed.
 */
export async function serveControl(
  service: OperatedService,
  socketPath: string,
  onError: (error: unknown) => void,
): Promise<{ close(): Promise<void> }> {
  const app = fastify({ logger: false, bodyLimit: bodyBytesMax, forceCloseConnections: true });
  app.post<{ Params: { readonly name: string } }>('/operations/:name', async (request, reply) => {
    const { name } = request.params;
    if (!Object.hasOwn(operations, name)) return reply.code(404).send({ ok: false, message: 'no such operation' });
    return runOperation(service, name as OperationName, request.body);
  });
  app.setErrorHandler((error, _request, reply) => {
    const { statusCode = 500 } = error as { readonly statusCode?: number };
    if (statusCode < 500)
      return reply.code(statusCode).send({ ok: false, message: 'this is not a valid request from a command.' });
    onError(error);
    return reply.code(500).send({ ok: false, message: 'the command failed in the service. See its log.' });
  });
  await rm(socketPath, { force: true });
  await app.listen({ path: socketPath });
  await chmod(socketPath, 0o600);
  return { close: () => app.close() };
}
