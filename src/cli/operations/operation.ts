import type { z } from 'zod';
import type { OperatedService } from '../../compose/vault/open-service.js';
import type { Json } from '../../domain/json.js';
import { issueErrors } from '../../domain/json-path.js';
import { fieldErrorText } from './field-error-text.js';

/** An operation of the CLI. It runs in the service, or in the command's own process if no service is running. */
export type Operation<Answer extends Json> = {
  /**
   * Checks the input, then runs the operation. Throws OperationFailed if the operation fails or the input is invalid.
   */
  run(service: OperatedService, input: unknown): Promise<Answer>;
};

/** An error whose message explains to the operator why an operation failed. */
export class OperationFailed extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'OperationFailed';
  }
}

/** An OperationFailed because the application may not do this. Over HTTP, it would be a response with status 403. */
export class OperationRefused extends OperationFailed {}

/** Creates an operation whose input must match the schema. */
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
