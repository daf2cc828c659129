import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { type Context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { ExportResultCode, parseTraceParent } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Spans } from '../../ports/spans.js';

type TracingOptions = {
  /** The URL where the collector accepts traces via OTLP over HTTP. */
  readonly endpoint: string;
  /**
   * The share of traces to record, from 0 to 1. If a request's caller has already decided whether to record the trace,
   * that decision is used instead.
   */
  readonly sampleRatio: number;
  readonly version: string;
  readonly onError: (error: Error) => void;
};

const closeMs = 2_000;

/**
 * Sends spans to an OpenTelemetry collector in batches. If a batch cannot be sent, its spans are lost, and `onError` is
 * called with the error.
 */
export function openTelemetrySpans({ endpoint, sampleRatio, version, onError }: TracingOptions): Spans {
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': 'strongroom',
      'service.version': version,
      'service.instance.id': randomUUID(),
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampleRatio) }),
    spanProcessors: [
      new BatchSpanProcessor({ exporter: reporting(new OTLPTraceExporter({ url: endpoint }), onError) }),
    ],
  });
  const tracer = provider.getTracer('strongroom', version);
  // Keeps the current context in its own storage. With the library's global context, any other module could add data to
  // these spans.
  const current = new AsyncLocalStorage<Context>();
  return {
    begin(traceparent) {
      const caller = traceparent === undefined ? null : parseTraceParent(traceparent);
      const parent = caller === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...caller, isRemote: true });
      const span = tracer.startSpan('request', { kind: SpanKind.SERVER }, parent);
      const context = trace.setSpan(parent, span);
      return {
        traceId: span.spanContext().traceId,
        run: (work) => current.run(context, work),
        end({ method, route, status }) {
          span.updateName(`${method} ${route}`);
          span.setAttributes({ 'http.request.method': method, 'http.route': route });
          if (status !== null) span.setAttribute('http.response.status_code', status);
          if (status === null) fail(span, 'client_disconnected');
          else if (status >= 500) fail(span, String(status));
          span.end();
        },
      };
    },
    store<T extends object>(name: string, system: string, store: T): T {
      const members = Object.entries(store).map(([member, value]) => {
        if (typeof value !== 'function') return [member, value];
        const attributes = { 'db.system.name': system, 'db.operation.name': member };
        const call = (...given: unknown[]): unknown => {
          const context = current.getStore();
          if (context === undefined) return value(...given);
          const span = tracer.startSpan(`${name}.${member}`, { kind: SpanKind.CLIENT, attributes }, context);
          try {
            const result: unknown = value(...given);
            if (result instanceof Promise) endWith(span, result);
            else span.end();
            return result;
          } catch (error) {
            fail(span, errorName(error));
            span.end();
            throw error;
          }
        };
        return [member, call];
      });
      return Object.fromEntries(members);
    },
    async close() {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_resolve, reject) => {
        timer = setTimeout(() => reject(new Error('the collector did not respond before the stop')), closeMs);
      });
      await Promise.race([provider.shutdown(), late]).catch(onError);
      clearTimeout(timer);
    },
  };
}

function endWith(span: Span, result: Promise<unknown>): void {
  result.then(
    () => span.end(),
    (error: unknown) => {
      fail(span, errorName(error));
      span.end();
    },
  );
}

function errorName(error: unknown): string {
  return error instanceof Error ? error.name : 'Error';
}

/**
 * Marks a span as failed. `type` is an error name, a status code or another fixed string. It must not be a message,
 * because a message can contain the caller's input.
 */
function fail(span: Span, type: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** Wraps an exporter so that it calls `onError` for each batch that it cannot send. */
function reporting(exporter: SpanExporter, onError: (error: Error) => void): SpanExporter {
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.code !== ExportResultCode.SUCCESS)
          onError(result.error ?? new Error('the collector rejected spans'));
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}
