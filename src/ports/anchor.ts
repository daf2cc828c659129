/**
 * A destination outside the stores. It receives each signed checkpoint, so that a truncated log can be detected. Lines
 * are delivered in order. If it is unknown whether a line arrived, the line may be delivered again.
 */
export interface Anchor {
  /**
   * Delivers a line of text durably. `line` does not include the line terminator. Throws StoreUnavailable if the
   * delivery fails.
   */
  deliver(line: string): Promise<void>;
}
