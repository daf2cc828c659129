/**
 * The reason why an expression cannot be parsed or evaluated. The message is for the caller. It names only filters and
 * limits, and never contains text from the expression or the data (docs/contract.md, "Errors").
 */
export class Refusal {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}
