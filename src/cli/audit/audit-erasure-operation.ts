import { z } from 'zod';
import type { ErasureStatement } from '../../audit/erasure-statement.js';
import { stateErasure } from '../../queries/state-erasure.js';
import { applicationOperation, unwrap } from '../operations/as-application.js';
import { OperationFailed } from '../operations/operation.js';

/** If the token was deleted but the vault cannot sign a statement, `statement` is null and `problem` explains why. */
type ErasureAnswer = { readonly statement: ErasureStatement | null; readonly problem: string | null };

/**
 * Checks that a token has been erased, and signs a statement that confirms it. The caller needs permission to read the
 * token's history.
 */
export const auditErasure = applicationOperation(
  z.object({ key: z.string(), id: z.string() }),
  ['log:read', 'token:read'],
  async ({ vault }, context, { id }): Promise<ErasureAnswer> => {
    const stated = unwrap(await stateErasure(vault, context, id));
    if (stated.kind === 'erased') return { statement: stated.statement, problem: null };
    if (stated.kind === 'incomplete') return { statement: null, problem: stated.problem };
    throw new OperationFailed(stated.problem);
  },
);
