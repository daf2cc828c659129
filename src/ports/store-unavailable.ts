/**
 * A store cannot do its work now: it is busy, full or unreachable. Adapters throw it in place of their library's
 * errors. The response is 503, and nothing was acknowledged. `reason` is a word of ours, never a library's text.
 */
export class StoreUnavailable extends Error {
  readonly store: string;
  readonly reason: string;

  constructor(store: string, reason: string) {
    super(`${store}: ${reason}`);
    this.name = 'StoreUnavailable';
    this.store = store;
    this.reason = reason;
  }
}
