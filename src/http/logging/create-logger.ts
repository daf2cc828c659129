import { destination, type Level, pino, stdTimeFunctions } from 'pino';
import { prettyFactory } from 'pino-pretty';
import { isQuotaUsedUp } from '../../ports/store-unavailable.js';
import { logLine } from './log-fields.js';
import type { Log, Logger, LogLevel } from './logger.js';

type LineStream = { write(line: string): unknown };

/**
 * Creates a logger that writes to standard output or to `stream`. It writes JSON lines, or readable text if `pretty` is
 * true. The logger collects lines for a few milliseconds and writes them together. When the process exits, it writes
 * the remaining lines, because they may explain why the process exited.
 */
export function createLogger(options: {
  readonly level: LogLevel;
  readonly pretty: boolean;
  readonly stream?: LineStream;
}): Logger {
  const stream = options.stream ?? gathered(standardOutput());
  const lines = pino(
    {
      level: options.level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    options.pretty ? readable(stream) : { write: (line) => void stream.write(line) },
  );
  const at =
    (level: Level): Log =>
    (message, fields = {}) =>
      lines[level](logLine(fields), message);
  return {
    fatal: at('fatal'),
    error: at('error'),
    warn: at('warn'),
    info: at('info'),
    debug: at('debug'),
    trace: at('trace'),
  };
}

/** The size of the lines that are kept while they cannot be written. */
const keptBytesMax = 1024 * 1024;

/**
 * Returns standard output. While the disk under it is full, keeps the oldest lines and drops the others: a full disk
 * under the log must not stop the service. Any other error ends the process, for example because the terminal or the
 * program that reads the log is gone.
 */
function standardOutput(): LineStream {
  const stream = destination({ fd: 1, sync: true, maxLength: keptBytesMax });
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOSPC' && !isQuotaUsedUp(error)) throw error;
  });
  return stream;
}

/** The maximum time in ms that a line stays in the buffer. Without a buffer, logging would cost twice as much. */
const waitMs = 10;

function gathered(stream: LineStream): LineStream {
  let pending = '';
  const flush = (): void => {
    const lines = pending;
    pending = '';
    if (lines !== '') stream.write(lines);
  };
  process.on('exit', () => {
    try {
      flush();
    } catch {
      // If the output was closed, this line is lost. The exit status must not change.
    }
  });
  return {
    write(line) {
      if (pending === '') setTimeout(flush, waitMs);
      pending += line;
    },
  };
}

/**
 * The log fields that `textOf` already includes in the text of a request's log line. They are not printed a second
 * time, so each request takes only one line on a terminal.
 */
const inText = ['route', 'method', 'status', 'duration_ms', 'code', 'trace_id', 'application_id'];

/**
 * Returns a stream that writes readable text. It uses only the formatter of pino-pretty, because pino-pretty's stream
 * can lose buffered lines when the process exits.
 */
function readable(stream: LineStream): { write(line: string): void } {
  const format = prettyFactory({
    translateTime: 'SYS:HH:MM:ss.l',
    singleLine: true,
    ignore: inText.join(','),
    messageFormat: textOf,
  });
  return { write: (line) => void stream.write(format(line) ?? '') };
}

/**
 * Returns the log line of a request as text, such as `GET /tokens/:id 404 token_not_found 1.2 ms trace=…
 * application=…`. If the line does not describe a request, returns its message.
 */
function textOf(line: Readonly<Record<string, unknown>>): string {
  const { method, route, status, code, duration_ms: durationMs, msg } = line;
  const request = [method, route, status, ...(code === undefined ? [] : [code]), `${durationMs} ms`];
  return [
    ...(route === undefined ? [msg] : request),
    ...(line['trace_id'] === undefined ? [] : [`trace=${line['trace_id']}`]),
    ...(line['application_id'] === undefined ? [] : [`application=${line['application_id']}`]),
  ].join(' ');
}
