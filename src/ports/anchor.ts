/**
 * A place outside of the stores that receives each signed checkpoint, so that a log whose end was cut off can be
 * detected. Lines are sent in order. A line that may have arrived is sent again.
 */
export interface Anchor {
  /** Delivers a line of text without its line end, durably. Throws StoreUnavailable. */
  deliver(line: string): Promise<void>;
}
