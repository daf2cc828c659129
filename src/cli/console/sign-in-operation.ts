import { z } from 'zod';
import { issueOperatorCode } from '../../console/sessions.js';
import { OperationFailed, operation } from '../operations/operation.js';

/**
 * Creates a one-time code that an operator uses to sign in to the console (docs/contract.md, "Console"). Fails if the
 * service has no console, because the code could not be used.
 */
export const consoleSignIn = operation(z.object({}), async (service) => {
  if (service.console === 'off') {
    throw new OperationFailed(
      'the service has no console. Set console.enabled to true, and restart the service. If --dev started the ' +
        'service, the port of the console is in use: choose one with console.port.',
    );
  }
  return { code: await issueOperatorCode(service.vault) };
});
