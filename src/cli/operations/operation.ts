import type { z } from 'zod';
import type { OperatedService } from '../../compose/open-service.js';
import type { Json } from '../../domain/json.js';

/** Something the command line can have done: by the service that holds the data, or by itself when none runs. */
export type Operation<Input> = {
  readonly input: z.ZodType<Input>;
  run(service: OperatedService, input: Input): Promise<Json>;
};

/** Why an operation did nothing: a text for the person at the command line. */
export class OperationFailed extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'OperationFailed';
  }
}

/** Ties the input's type to its schema. */
export function operation<Input>(
  input: z.ZodType<Input>,
  run: (service: OperatedService, input: Input) => Promise<Json>,
): Operation<Input> {
  return { input, run };
}
