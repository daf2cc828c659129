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
