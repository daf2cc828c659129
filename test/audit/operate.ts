import { runOperation } from '#src/cli/operations/run-operation.js';
import type { Answers, OperationName } from '#src/cli/operations.js';
import type { Service } from '#src/http/service.js';

const notAsked = (): never => {
  throw new Error('no operation of these tests asks for a rotation, or confirms the clock');
};

/**
 * Runs an operation on an open service. The input and the result are encoded as on the control socket. If the operation
 * fails, throws an error with the operation's message.
 */
export async function operate<Name extends OperationName>(
  service: Service,
  name: Name,
  input: unknown,
): Promise<Answers[Name]> {
  const outcome = await runOperation(
    { ...service, rotation: { start: notAsked, state: notAsked }, confirmClock: notAsked, console: 'unknown' },
    name,
    JSON.parse(JSON.stringify(input)),
  );
  if (!outcome.ok) throw new Error(outcome.message);
  return JSON.parse(JSON.stringify(outcome.value));
}
