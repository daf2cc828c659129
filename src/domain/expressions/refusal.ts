/**
 * Why an expression cannot be parsed or evaluated, in words for the caller. The message names our own filters and
 * limits only: it never holds text of the expression or of the data (docs/contract.md, "Errors").
 */
export class Refusal {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}
