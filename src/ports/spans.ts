/** The span of one request. */
export type RequestSpan = {
  /** The trace that the span belongs to, 32 hex digits. */
  readonly traceId: string;
  /** Runs `work` so that calls of stores in it become children of this span. */
  run<T>(work: () => T): T;
  /**
   * `route` is a pattern, such as `/tokens/:id`. `status` is null if the client disconnected before it had the
   * response.
   */
  end(request: { readonly method: string; readonly route: string; readonly status: number | null }): void;
};

/**
 * Records how long requests and the calls of stores in them take (docs/how-to/operate.md, "Traces"). A span holds names
 * that the code knows, times and a status: never an id of a token, an application or a tenant, an address or a value.
 */
export interface Spans {
  /**
   * Begins the span of a request. It continues the trace of a valid `traceparent` header (W3C Trace Context, section
   * 3.2).
   */
  begin(traceparent: string | undefined): RequestSpan;
  /**
   * Returns the store with a span for each call during a request, whether the call returns a promise or a value.
   * `system` is the kind of store.
   */
  store<T extends object>(name: string, system: string, store: T): T;
  /** Sends what is not sent yet, for at most two seconds: a collector that hangs must not delay a shutdown. */
  close(): Promise<void>;
}
