import { type LoggedError, loggedError } from './logged-error.js';

/** All that a log line may carry beside level, time and message (docs/contract.md, "Log lines"). */
export type LogFields = {
  /** The template (`/tokens/:id`), never the address that was asked for. */
  readonly route?: string;
  readonly method?: string;
  readonly status?: number;
  readonly durationMs?: number;
  readonly traceId?: string;
  readonly applicationId?: string;
  /** The OpenTelemetry trace that the request is a span of. */
  readonly otelTraceId?: string;
  /** The code of the problem that a request ended with. */
  readonly code?: string;
  /** The address that the service listens on. */
  readonly address?: string;
  readonly version?: string;
  readonly profile?: string;
  readonly role?: string;
  /** How long requests are still accepted after a signal to stop. */
  readonly delaySeconds?: number;
  /** Where the admin listener listens. */
  readonly adminAddress?: string;
  /** Whatever was thrown; `loggedError` says what is kept of it. */
  readonly error?: unknown;
};

export type LogLine = Readonly<Record<string, string | number | LoggedError>>;

/**
 * The fields by their names in a log line. It picks, so that what else an object carries at run time (a spread request,
 * a cast) stays out.
 */
export function logLine(fields: LogFields): LogLine {
  const { route, method, status, durationMs, traceId, applicationId, code, adminAddress, otelTraceId } = fields;
  const { address, version, profile, role, delaySeconds } = fields;
  const line: Record<string, string | number | LoggedError> = {};
  if (typeof route === 'string') line['route'] = route;
  if (typeof method === 'string') line['method'] = method;
  if (typeof status === 'number') line['status'] = status;
  if (typeof durationMs === 'number') line['duration_ms'] = durationMs;
  if (typeof traceId === 'string') line['trace_id'] = traceId;
  if (typeof applicationId === 'string') line['application_id'] = applicationId;
  if (typeof otelTraceId === 'string') line['otel_trace_id'] = otelTraceId;
  if (typeof code === 'string') line['code'] = code;
  if (typeof address === 'string') line['address'] = address;
  if (typeof version === 'string') line['version'] = version;
  if (typeof profile === 'string') line['profile'] = profile;
  if (typeof role === 'string') line['role'] = role;
  if (typeof delaySeconds === 'number') line['delay_seconds'] = delaySeconds;
  if (typeof adminAddress === 'string') line['admin_address'] = adminAddress;
  if ('error' in fields) line['err'] = loggedError(fields.error);
  return line;
}
