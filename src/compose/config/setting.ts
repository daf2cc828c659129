import type { z } from 'zod';

/** The format of a value in a variable or after a flag. The items of a list are separated by commas. */
export type TextForm = 'text' | 'number' | 'boolean' | 'list' | 'json';

/** One setting. Its schema checks values from all sources, and its messages never quote the value. */
export type Setting = {
  readonly schema: z.ZodType;
  readonly default: unknown;
  readonly form: TextForm;
  /** Secret values are replaced wherever settings are shown. */
  readonly secret: boolean;
  /** One sentence for help and reference. */
  readonly doc: string;
};

export const environmentPrefix = 'STRONGROOM_';

/** `auth.header_aliases` as `STRONGROOM_AUTH_HEADER_ALIASES`. */
export function environmentName(path: string): string {
  return environmentPrefix + path.toUpperCase().replaceAll('.', '_');
}

/** `auth.header_aliases` as `--auth-header-aliases`. */
export function flagName(path: string): string {
  return `--${path.replaceAll(/[._]/g, '-')}`;
}

/** `auth.header_aliases` as `authHeaderAliases`, the member under which commander hands over the flag. */
export function flagMember(path: string): string {
  return path.replaceAll(/[._](.)/g, (_, letter: string) => letter.toUpperCase());
}
