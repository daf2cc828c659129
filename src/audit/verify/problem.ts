/**
 * The first fault that was found. The text names events by position, id and stream, which reveal nothing.
 */
export type Problem = {
  readonly kind:
    | 'changed'
    | 'missing'
    | 'inserted'
    | 'reordered'
    | 'forged'
    | 'cut_tail'
    | 'checkpoint'
    | 'access_log'
    | 'forged_row'
    | 'damaged_export';
  readonly message: string;
  /** The position of the event concerned, or of the last one before it; null if there is no particular event. */
  readonly position: number | null;
};
