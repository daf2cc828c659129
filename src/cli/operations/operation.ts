import type { z } from 'zod';
import type { OperatedService } from '../../compose/vault/open-service.js';
import type { Json } from '../../domain/json.js';
import { fieldErrorText, issueErrors } from './field-error-text.js';

/** A CLI operation. The service that holds the data runs it. If no service is running, the command runs it itself. */
export type Operation<Answer extends Json> = {
  /** Checks the input, then runs the operation. Throws OperationFailed, including for invalid input. */
  run(service: OperatedService, input: unknown): Promise<Answer>;
};

/** Explains to the operator why an operation did nothing. */
export class OperationFailed extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'OperationFailed';
  }
}

/** Creates an operation that accepts the input that the schema allows. */
export function operation<Input, Answer extends Json>(
  schema: z.ZodType<Input>,
  run: (service: OperatedService, input: Input) => Promise<Answer>,
): Operation<Answer> {
  return {
    async run(service, input) {
      const parsed = schema.safeParse(input);
      if (parsed.success) return run(service, parsed.data);
      throw new OperationFailed(fieldErrorText(issueErrors(parsed.error.issues, 'input')));
    },
  };
}
