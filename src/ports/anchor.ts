/**
 * A place outside of the stores that gets each signed checkpoint, so that a log whose end was cut off shows. Lines come in
 * order, and one that may have arrived comes again.
 */
export interface Anchor {
  /** Hands over one line of text without its line end. Durable when it resolves; StoreUnavailable otherwise. */
  deliver(line: string): Promise<void>;
}
