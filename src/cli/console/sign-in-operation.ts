import { z } from 'zod';
import { issueOperatorCode } from '../../console/sessions.js';
import { operation } from '../operations/operation.js';

/** Creates a one-time code that an operator uses to sign in to the console (docs/contract.md, "Console"). */
export const consoleSignIn = operation(z.object({}), async ({ vault }) => ({ code: await issueOperatorCode(vault) }));
