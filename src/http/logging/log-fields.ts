import { type LoggedError, loggedError } from './logged-error.js';

/**
 * All fields that a log line can contain in addition to level, time and message (docs/contract.md, "Log lines"). A log
 * line omits null fields.
 */
export type LogFields = {
  /** The route template, such as `/tokens/:id`. It is never the requested URL. */
  readonly route?: string;
  readonly method?: string;
  readonly status?: number;
  readonly durationMs?: number;
  readonly traceId?: string;
  readonly applicationId?: string | null;
  /** The OpenTelemetry trace that contains the request's span. */
  readonly otelTraceId?: string | null;
  /** The code of the problem in the response. */
  readonly code?: string | null;
  /** The address that the service listens on. */
  readonly address?: string;
  readonly version?: string;
  readonly profile?: string;
  readonly role?: string;
  /** How long the service still accepts requests after a stop signal, in seconds. */
  readonly delaySeconds?: number;
  /** The address of the admin listener. */
  readonly adminAddress?: string;
  /** The address of the console. */
  readonly consoleAddress?: string;
  /** Any thrown value. `loggedError` selects the parts of it that are logged. */
  readonly error?: unknown;
};

export type LogLine = Readonly<Record<string, string | number | LoggedError>>;

/**
 * Returns the fields under their names in the log line. Copies only known fields. A spread or a cast may have added
 * other properties to the object, and these must not be logged.
 */
export function logLine(fields: LogFields): LogLine {
  const { route, method, status, durationMs, traceId, applicationId, code, adminAddress, otelTraceId, consoleAddress } =
    fields;
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
  if (typeof consoleAddress === 'string') line['console_address'] = consoleAddress;
  if ('error' in fields) line['err'] = loggedError(fields.error);
  return line;
}
