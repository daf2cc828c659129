import { z } from 'zod';
import type { JsonObject } from '../../domain/json.js';
import { countForExport, exportTokens as exportStep } from '../../queries/export-tokens.js';
import { asApplication, verbContext } from '../operations/as-application.js';
import { operation } from '../operations/operation.js';

/** Tokens of one step: 32 MiB, were each as large as it may be. */
const stepSize = 64;

/** `total` comes with the first step: how many tokens the application may read. */
export type ExportAnswer = {
  readonly requests: readonly JsonObject[];
  readonly masked: number;
  readonly next: number | null;
  readonly total: number | null;
};

/** One step of an export as the application. Each token in it is recorded as revealed before this resolves. */
export const exportTokens = operation(
  z.object({ key: z.string(), /** Null: the first step. */ before: z.int().nullable() }),
  async (service, { key, before }) => {
    const { vault } = service;
    const caller = await asApplication(service, key, 'token:read');
    const context = verbContext(service, caller);
    const total = before === null ? await countForExport(vault, context) : null;
    return { ...(await exportStep(vault, context, before, stepSize)), total };
  },
);
