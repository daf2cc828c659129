/**
 * The first fault found by a verification. The message identifies events only by position, id and stream, because these
 * do not reveal token data.
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
    | 'unsigned'
    | 'access_log'
    | 'forged_row'
    | 'missing_row'
    | 'damaged_export';
  readonly message: string;
  /** The position of the affected event, or of the last event before it. Null if no particular event is affected. */
  readonly position: number | null;
};
