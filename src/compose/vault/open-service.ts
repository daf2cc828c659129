import type { Service } from '../../http/service.js';
import type { KeyRotationWork } from './key-rotation-work.js';

/** A service with the operations used only by CLI commands. */
export type OperatedService = Service & {
  readonly rotation: KeyRotationWork;
  readonly confirmClock: ConfirmClock;
  /**
   * Whether people can sign in to a console of this vault. `unknown` means that this process has only opened the
   * stores: another process may serve the console.
   */
  readonly console: 'served' | 'off' | 'unknown';
};

/**
 * Records that the operator has confirmed the clock. `trusted` means that the clock was not on hold. `cluster` means
 * that the confirmation has no effect, because a cluster process trusts its clock only while that clock agrees with
 * MongoDB's clock.
 */
export type ConfirmClock = () => Promise<'confirmed' | 'trusted' | 'cluster'>;

/** A service whose stores are open, in either profile. */
export type OpenService = Service & {
  readonly confirmClock: ConfirmClock;
  /** Starts the background work. */
  start(): void;
  /** Completes the work in progress and closes the stores. */
  close(): Promise<void>;
};
