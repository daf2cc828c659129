/** Something of a token becomes due: `revision` is that of the stream when this was known. */
export type Timer = {
  readonly tenantId: string;
  readonly stream: string;
  readonly revision: number;
  readonly due: 'expiry' | 'cvc';
  /** Milliseconds since the epoch. */
  readonly dueAt: number;
};

/**
 * Sees to it that what becomes due is recorded soon after. Never the guarantee: reads hide what is due by themselves, and
 * the sweep finds what no timer told of. So it neither waits nor throws.
 */
export interface Timers {
  set(timer: Timer): void;
}
