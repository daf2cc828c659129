import type { LogFields } from './log-fields.js';

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Writes one line. `message` is a fixed string. Variable values belong in `fields`. */
export type Log = (message: string, fields?: LogFields) => void;

/**
 * The only way to write to the log. It accepts only `LogFields`, not the objects that libraries pass to loggers. This
 * prevents any part of a request from being logged by accident.
 */
export type Logger = Readonly<Record<Exclude<LogLevel, 'silent'>, Log>>;

/**
 * Logs an uncaught error and exits with code 1. Exits even if the log cannot be written. Without this handler, Node.js
 * would print the error's message and cause, which may contain data (docs/contract.md, "Log lines").
 */
export function logUncaught(logger: Logger): void {
  const endWith = (message: string) => (error: unknown) => {
    try {
      logger.fatal(message, { error });
    } finally {
      process.exit(1);
    }
  };
  process.on('uncaughtException', endWith('uncaught exception'));
  process.on('unhandledRejection', endWith('unhandled rejection'));
}
