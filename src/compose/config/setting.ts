import type { z } from 'zod';

/** How a text, in a variable or after a flag, stands for the value. A list is written with commas between its items. */
export type TextForm = 'text' | 'number' | 'boolean' | 'list' | 'json';

/** One setting. Its schema checks values from everywhere, and its messages never repeat the value. */
export type Setting = {
  readonly schema: z.ZodType;
  readonly default: unknown;
  readonly form: TextForm;
  /** Secret values are replaced wherever settings are shown. */
  readonly secret: boolean;
  /** One sentence for help and reference. */
  readonly doc: string;
};
