/**
 * A destination outside the stores that receives each signed checkpoint, so that a truncated log can be detected. Lines
 * are delivered in order. A line may be delivered again if it is unknown whether it arrived.
 */
export interface Anchor {
  /** Delivers a line of text durably. `line` does not include the line terminator. Throws StoreUnavailable. */
  deliver(line: string): Promise<void>;
}
