import type { LogFields } from './log-fields.js';

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Writes one line. `message` is a fixed text of ours. Variable values go into the fields, which are a closed set. */
export type Log = (message: string, fields?: LogFields) => void;

/**
 * The only way to write to the log. It does not accept what a library would pass to a logger, so no part of a request
 * is logged by accident.
 */
export type Logger = Readonly<Record<Exclude<LogLevel, 'silent'>, Log>>;
