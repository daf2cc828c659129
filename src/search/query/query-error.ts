import { codePointCount } from '../../domain/text.js';

/** What is wrong with a query, in words of ours, and the index in its text where. Never any of the text itself. */
export class QueryError extends Error {
  readonly at: number;
  /** The caller's name of a field that there is none of. Only to find a near one: it is never repeated. */
  readonly unknownField: string | null;

  constructor(message: string, at: number, unknownField: string | null = null) {
    super(message);
    this.name = 'QueryError';
    this.at = at;
    this.unknownField = unknownField;
  }

  /** The message with the position as a person counts it: characters from 1. */
  describe(text: string, addition = ''): string {
    return `${this.message}${addition} (at character ${codePointCount(text.slice(0, this.at)) + 1})`;
  }
}
