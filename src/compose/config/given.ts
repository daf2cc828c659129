import type { SettingPath } from './settings.js';

export type Source = 'default' | 'file' | 'environment' | 'flag';

/** A value as it was given, not yet checked, and the name by which the user gave it. */
export type Given = {
  readonly path: SettingPath;
  readonly source: Source;
  readonly name: string;
  readonly value: unknown;
};

/** What one source holds, and one line for each thing in it that is no setting. */
export type Reading = { readonly given: readonly Given[]; readonly problems: readonly string[] };
