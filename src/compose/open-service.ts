import type { Service } from '../http/service.js';
import type { KeyRotationWork } from './key-rotation-work.js';

/** What the command line can have done besides. */
export type OperatedService = Service & { readonly rotation: KeyRotationWork };

/** A service on open stores, whichever profile they are of. */
export type OpenService = Service & {
  /** Begins the work that no request asks for. */
  start(): void;
  /** Finishes what is under way and closes the stores. */
  close(): Promise<void>;
};
