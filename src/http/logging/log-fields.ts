import { type LoggedError, loggedError } from './logged-error.js';

/** All that a log line may carry beside level, time and message (contract, section 13). */
export type LogFields = {
  /** The template (`/tokens/:id`), never the address that was asked for. */
  readonly route?: string;
  readonly method?: string;
  readonly status?: number;
  readonly durationMs?: number;
  readonly traceId?: string;
  readonly applicationId?: string;
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
  const { route, method, status, durationMs, traceId, applicationId, adminAddress } = fields;
  return {
    ...(typeof route === 'string' && { route }),
    ...(typeof method === 'string' && { method }),
    ...(typeof status === 'number' && { status }),
    ...(typeof durationMs === 'number' && { duration_ms: durationMs }),
    ...(typeof traceId === 'string' && { trace_id: traceId }),
    ...(typeof applicationId === 'string' && { application_id: applicationId }),
    ...(typeof adminAddress === 'string' && { admin_address: adminAddress }),
    ...('error' in fields && { err: loggedError(fields.error) }),
  };
}
