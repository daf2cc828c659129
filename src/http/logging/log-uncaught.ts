import type { Logger } from './logger.js';

/**
 * Logs what nobody caught, then ends the process with 1: without this Node.js prints message and cause, which may hold
 * data (docs/contract.md, "Log lines"). It ends even when the log cannot be written.
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
