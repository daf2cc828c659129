import { z } from 'zod';
import type { JsonObject } from '../../domain/json.js';
import { countForExport, exportTokens as exportStep } from '../../queries/export-tokens.js';
import { applicationOperation } from '../operations/as-application.js';

/** The maximum number of tokens per step. A step with large tokens has fewer (`stepBytes` in `export-tokens.ts`). */
const stepSize = 64;

/**
 * The result of one step. `total` is the number of tokens that the application may read, and only the first step
 * returns it.
 */
export type ExportAnswer = {
  readonly requests: readonly JsonObject[];
  readonly masked: number;
  readonly lost: readonly string[];
  readonly next: number | null;
  readonly total: number | null;
};

/** Runs one step of an export as the application. Records the reveal of each token before the tokens are returned. */
export const exportTokens = applicationOperation(
  z.object({ key: z.string(), /** Null requests the first step. */ before: z.int().nullable() }),
  ['token:read'],
  async ({ vault }, context, { before }) => {
    const total = before === null ? await countForExport(vault, context) : null;
    return { ...(await exportStep(vault, context, before, stepSize)), total };
  },
);
