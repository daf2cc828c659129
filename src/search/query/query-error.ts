import { codePointCount } from '../../domain/text.js';

/** What is wrong with a query, in words of ours, and the index in its text where. Never any of the text itself. */
export class QueryError extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.name = 'QueryError';
    this.at = at;
  }

  /** The message with the position as a person counts it: characters from 1. */
  describe(text: string): string {
    return `${this.message} (at character ${codePointCount(text.slice(0, this.at)) + 1})`;
  }
}
