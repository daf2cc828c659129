import type { Service } from '../http/service.js';

/** A service on open stores, whichever profile they are of. */
export type OpenService = Service & {
  /** Begins the work that no request asks for. */
  start(): void;
  /** Finishes what is under way and closes the stores. */
  close(): Promise<void>;
};
