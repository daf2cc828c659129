/**
 * The first thing that is not as it was written. The text names events by position, id and stream, which say nothing.
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
  /** Of the event concerned, or of the last one before it; null: none in particular. */
  readonly position: number | null;
};
