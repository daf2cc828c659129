import type { z } from 'zod';

/** The format of the value in a variable or a flag. A list separates its items with commas. */
export type TextForm = 'text' | 'number' | 'boolean' | 'list' | 'json';

/** One setting. Its schema checks values from all sources, and the schema's messages never quote a value. */
export type Setting = {
  readonly schema: z.ZodType;
  readonly default: unknown;
  readonly form: TextForm;
  /** True for a value that is hidden wherever settings are displayed. Omitted for all others. */
  readonly secret?: true;
  /** One sentence that describes the setting in the help output and the reference. */
  readonly doc: string;
};

export const environmentPrefix = 'STRONGROOM_';

/** Returns the name of a setting's variable, such as `STRONGROOM_AUTH_HEADER_ALIASES` for `auth.header_aliases`. */
export function environmentName(path: string): string {
  return environmentPrefix + path.toUpperCase().replaceAll('.', '_');
}

/** Returns a setting's flag, such as `--auth-header-aliases` for `auth.header_aliases`. */
export function flagName(path: string): string {
  return `--${path.replaceAll(/[._]/g, '-')}`;
}

/**
 * Returns the member name that commander assigns to the flag of a setting, such as `authHeaderAliases` for
 * `auth.header_aliases`.
 */
export function flagMember(path: string): string {
  return path.replaceAll(/[._](.)/g, (_, letter: string) => letter.toUpperCase());
}
