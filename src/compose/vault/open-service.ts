import type { Service } from '../../http/service.js';
import type { KeyRotationWork } from './key-rotation-work.js';

/** What the command line can have done besides. */
export type OperatedService = Service & {
  readonly rotation: KeyRotationWork;
  readonly confirmClock: ConfirmClock;
};

/**
 * The operator says that the clock is right. `trusted`: nothing was held back because of it. `cluster`: a process of a cluster
 * trusts the clocks when MongoDB's and its own agree, whatever anyone says.
 */
export type ConfirmClock = () => Promise<'confirmed' | 'trusted' | 'cluster'>;

/** A service on open stores, whichever profile they are of. */
export type OpenService = Service & {
  readonly confirmClock: ConfirmClock;
  /** Begins the work that no request asks for. */
  start(): void;
  /** Finishes what is under way and closes the stores. */
  close(): Promise<void>;
};
