import type { Logger } from './logger.js';

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
