/** The span of one request. */
export type RequestSpan = {
  /** The id of the trace that the span belongs to, as 32 hex digits. */
  readonly traceId: string;
  /** Runs `work`. Store calls during `work` become children of this span. */
  run<T>(work: () => T): T;
  /**
   * Ends the span. `route` is a pattern such as `/tokens/:id`. `status` is null if the client disconnected before it
   * received the response.
   */
  end(request: { readonly method: string; readonly route: string; readonly status: number | null }): void;
};

/**
 * Records how long requests and their store calls take (docs/how-to/operate.md, "Traces"). A span contains only times,
 * a status, and names from the code. It never contains a value, an address, or the id of a token, an application or a
 * tenant.
 */
export interface Spans {
  /**
   * Begins the span of a request. If the `traceparent` header is valid, the span continues the trace that the header
   * names (W3C Trace Context, section 3.2).
   */
  begin(traceparent: string | undefined): RequestSpan;
  /**
   * Wraps a store so that each call during a request gets a span, whether the call returns a promise or a value.
   * `system` is the kind of store.
   */
  store<T extends object>(name: string, system: string, store: T): T;
  /**
   * Sends all unsent spans. Gives up after two seconds, so that an unresponsive collector does not delay a shutdown.
   */
  close(): Promise<void>;
}
