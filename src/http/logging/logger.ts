import type { LogFields } from './log-fields.js';

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Writes one line. `message` is a fixed text of ours; what varies goes into the fields, which are a closed set. */
export type Log = (message: string, fields?: LogFields) => void;

/** The only way to the log. It does not take what a library would hand to it, so nothing of a request slips through. */
export type Logger = Readonly<Record<Exclude<LogLevel, 'silent'>, Log>>;
