import type { AddressInfo } from 'node:net';
import { documentOf, operationsIn } from '../http/openapi/support.js';
import { startTestService } from '../support/test-service.js';

/** Starts the real service on a free port, and records which operations the clients call. */
export async function startRecordedService() {
  const service = await startTestService();
  const operations = operationsIn(await documentOf(service)).map(({ operationId = '', method, path }) => ({
    operationId,
    method: method.toUpperCase(),
    // Used to sort the paths. A path with fewer parameters is tried first, because a path with more parameters can
    // match the same requests.
    parameters: path.split('{').length - 1,
    pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
  }));
  operations.sort((a, b) => a.parameters - b.parameters);
  const called = new Set<string>();
  await service.app.listen({ port: 0, host: '127.0.0.1' });
  service.app.server.on('request', ({ method, url = '' }) => {
    const [path = ''] = url.split('?');
    const operation = operations.find((known) => known.method === method && known.pattern.test(path));
    called.add(operation?.operationId ?? `${method} ${path}`);
  });
  const { port } = service.app.server.address() as AddressInfo;
  return {
    service,
    address: `http://127.0.0.1:${port}`,
    /**
     * `all` lists the ids of all operations in the document. `called` returns the ids of the operations that were
     * called. Both are sorted.
     */
    all: operations.map(({ operationId }) => operationId).sort(),
    called: () => [...called].sort(),
  };
}
