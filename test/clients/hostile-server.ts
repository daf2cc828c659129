import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

type Behavior = (request: IncomingMessage, response: ServerResponse, url: URL) => void;

const trace = { 'service-trace-id': 'trace-1' };
const json = { ...trace, 'content-type': 'application/json' };
const problem = { ...trace, 'content-type': 'application/problem+json' };
const token = { id: 't1', tenant_id: 'x', type: 'token', containers: ['/'] };

function problemText(status: number, code: string, detail = 'Detail.'): string {
  return JSON.stringify({ type: `/errors/${code}`, title: 'Title', status, detail, code, instance: 'urn:trace:1' });
}

/** The server's behaviors, keyed by name. The first segment of a request's path selects the behavior. */
const behaviors: Readonly<Record<string, (attempt: number, ...args: Parameters<Behavior>) => void>> = {
  silent: () => undefined,
  drip: (_, _request, response) => {
    response.writeHead(200, json);
    const timer = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(timer));
  },
  redirect: (_, _request, response, url) => response.writeHead(307, { location: `${url.origin}/thief/` }).end(),
  thief: (_, _request, response) => response.writeHead(200, json).end(JSON.stringify(token)),
  megabytes: (_, _request, response) => {
    response.writeHead(200, json);
    const chunk = Buffer.alloc(1 << 20, 0x20);
    const fill = () => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on('drain', fill);
    fill();
  },
  compressed: (_, _request, response) => {
    const body = gzipSync(gzipSync(Buffer.alloc(16 << 20, 0x20)));
    response.writeHead(200, { ...json, 'content-encoding': 'gzip, gzip' }).end(body);
  },
  page: (_, _request, response) => response.writeHead(200, { ...trace, 'content-type': 'text/html' }).end('<p>Hi'),
  stranger: (_, _request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(token)),
  garbage: (_, _request, response) => response.writeHead(200, json).end('{"data": "4242424242424242'),
  deep: (_, _request, response) => response.writeHead(200, json).end('['.repeat(100_000) + ']'.repeat(100_000)),
  shapeless: (_, _request, response) => response.writeHead(200, json).end('[]'),
  broken: (_, request) => request.socket.destroy(),
  echo: (_, request, response) =>
    response
      .writeHead(400, problem)
      .end(problemText(400, 'malformed_body', `Got ${request.headers['service-api-key']}.`)),
  limited: (attempt, _request, response) =>
    attempt === 1
      ? response.writeHead(429, { ...problem, 'retry-after': '3' }).end(problemText(429, 'rate_limited'))
      : response.writeHead(200, json).end(JSON.stringify(token)),
  busy: (_, _request, response) =>
    response.writeHead(503, { ...problem, 'retry-after': '1' }).end(problemText(503, 'store_unavailable')),
  patient: (_, _request, response) =>
    response.writeHead(429, { ...problem, 'retry-after': '86400' }).end(problemText(429, 'guesses_exhausted')),
  eternal: (_, _request, response) =>
    response
      .writeHead(503, { ...problem, 'retry-after': 'Mon, 01 Jan 99999999999 00:00:00 GMT' })
      .end(problemText(503, 'store_unavailable')),
  invalid: (_, request, response) => {
    const fields = JSON.stringify({ 'data.number': ['is required', `not ${request.headers['service-api-key']}`] });
    const others = `[{"toString":1,"valueOf":1},${'['.repeat(100_000)}${']'.repeat(100_000)}]`;
    const errors = `${fields.slice(0, -1)},"other":${others}}`;
    const body = problemText(400, 'validation_failed');
    response.writeHead(400, problem).end(`${body.slice(0, -1)},"errors":${errors}}`);
  },
  unchanged: (_, _request, response) => response.writeHead(304, trace).end(),
  loop: (_, _request, response) =>
    response.writeHead(200, json).end(JSON.stringify({ pagination: { page_size: 1, next: 'again' }, data: [token] })),
};

export type HostileServer = Awaited<ReturnType<typeof startHostileServer>>;

/** Starts a server that has these behaviors, and that records every request. */
export async function startHostileServer() {
  const seen: {
    readonly behavior: string;
    readonly idempotencyKey: string | undefined;
    readonly hasKey: boolean;
    readonly query: string;
  }[] = [];
  const expecting: (() => void)[] = [];
  const server = createServer((request, response) => {
    for (const arrived of expecting.splice(0)) arrived();
    const url = new URL(request.url ?? '', `http://${request.headers.host}`);
    const [, behavior = '', name = ''] = url.pathname.split('/');
    // A client in another process uses this path to get the recorded requests.
    if (behavior === '-') return response.end(JSON.stringify(requests(name)));
    const { 'service-idempotency-key': idempotencyKey, 'service-api-key': key } = request.headers;
    seen.push({ behavior, idempotencyKey: idempotencyKey?.toString(), hasKey: key !== undefined, query: url.search });
    const attempt = seen.filter((one) => one.behavior === behavior).length;
    request.resume();
    behaviors[behavior]?.(attempt, request, response, url);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  /** Returns the requests for this behavior that arrived since the previous call with the same name. */
  function requests(name: string) {
    const matching = seen.filter(({ behavior }) => behavior === name);
    for (const one of matching) seen.splice(seen.indexOf(one), 1);
    return matching;
  }

  return {
    address: `http://127.0.0.1:${port}`,
    requests,
    /** Resolves when the next request has arrived. */
    arrival: () => new Promise<void>((resolve) => expecting.push(resolve)),
    close(): Promise<void> {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
