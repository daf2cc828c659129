import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

type Attribute = { readonly key: string; readonly value: Readonly<Record<string, unknown>> };
export type Span = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code?: number; readonly message?: string };
  readonly events?: readonly unknown[];
};

/**
 * The kind of a server span. The values below are the kind of a client span and the status of a failed span
 * (opentelemetry-proto, trace/v1/trace.proto).
 */
export const server = 2;
export const client = 3;
export const failed = 2;

/**
 * Starts a collector that receives traces in JSON, as OTLP over HTTP (OpenTelemetry Protocol 1.x, "OTLP/HTTP Request").
 */
export async function startCollector(answer: 'takes' | 'hangs' = 'takes') {
  const bodies: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const listener = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      body += part;
    });
    request.on('end', () => {
      bodies.push(body);
      headers.push(request.headers);
      if (answer === 'takes') response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    listener.closeAllConnections();
    listener.close();
  });
  const spans = () =>
    bodies.flatMap((body) =>
      (JSON.parse(body).resourceSpans as readonly { readonly scopeSpans: readonly { readonly spans: Span[] }[] }[])
        .flatMap(({ scopeSpans }) => scopeSpans)
        .flatMap((scope) => scope.spans),
    );
  const { port } = listener.address() as AddressInfo;
  return { endpoint: `http://127.0.0.1:${port}/v1/traces`, spans, text: () => bodies.join('\n'), headers, listener };
}

export function attributesOf({ attributes }: Span): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
