import type { z } from 'zod';
import type { OperatedService } from '../../compose/vault/open-service.js';
import type { Json } from '../../domain/json.js';
import { fieldErrorText, issueErrors } from './field-error-text.js';

/** Something the command line can have done: by the service that holds the data, or by itself when none runs. */
export type Operation<Answer extends Json> = {
  /** Checks the input first. Throws OperationFailed, also for input that it does not take. */
  run(service: OperatedService, input: unknown): Promise<Answer>;
};

/** Why an operation did nothing: a text for the person at the command line. */
export class OperationFailed extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'OperationFailed';
  }
}

/** An operation that takes what the schema allows. */
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
