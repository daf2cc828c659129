import type { z } from 'zod';
import type { OperatedService } from '../../compose/vault/open-service.js';
import type { Json } from '../../domain/json.js';
import { fieldErrorText, issueErrors } from './field-error-text.js';

/**
 * An operation of the command line. The service that holds the data runs it, or the command itself if no service is
 * running.
 */
export type Operation<Answer extends Json> = {
  /** Checks the input, then runs. Throws OperationFailed, also for invalid input. */
  run(service: OperatedService, input: unknown): Promise<Answer>;
};

/** Says why an operation did nothing, in a text for the operator. */
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
