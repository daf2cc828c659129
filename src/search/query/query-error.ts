import { codePointCount } from '../../domain/text.js';

/** The problem of a query, and its index in the text. The message never contains any part of the text. */
export class QueryError extends Error {
  readonly at: number;
  /** The unknown field that the caller named. It is used only to find a similar field, and is never repeated. */
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
