/**
 * The reason why an expression cannot be parsed or evaluated, as a message for the caller. The message names only
 * filters and limits, and never contains text from the expression or the data (docs/contract.md, "Errors").
 */
export class Refusal {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}
