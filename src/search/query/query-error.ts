import { codePointCount } from '../../domain/text.js';

/**
 * A problem with a query, and the index at which the problem occurs. The message never contains any part of the query.
 */
export class QueryError extends Error {
  readonly at: number;
  /**
   * The field name, if the problem is an unknown field. Null for every other problem. The name is used only to find a
   * similar field, and never appears in a message.
   */
  readonly unknownField: string | null;

  constructor(message: string, at: number, unknownField: string | null = null) {
    super(message);
    this.name = 'QueryError';
    this.at = at;
    this.unknownField = unknownField;
  }

  /** Returns the message with the position in characters, counted from 1. */
  describe(text: string, addition = ''): string {
    return `${this.message}${addition} (at character ${codePointCount(text.slice(0, this.at)) + 1})`;
  }
}
