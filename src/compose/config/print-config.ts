import type { Config } from './config.js';
import { type SettingPath, settingPaths, settings } from './settings.js';

const hidden = '[hidden]';
const passwordInUrl = /([a-z][a-z0-9+.-]*:\/\/)[^/?#\s]*@/gi;

/**
 * Returns every setting with its value and source, for `strongroom config print`. Hides secret values. In values that
 * look like a URL, hides the user and the password.
 */
export function shownSettings(config: Config): readonly ShownSetting[] {
  return settingPaths.map((path) => ({ path, value: shown(config, path), source: config.sources[path] }));
}

export type ShownSetting = { readonly path: SettingPath; readonly value: unknown; readonly source: string };

function shown(config: Config, path: SettingPath): unknown {
  const value = config.settings[path];
  if (settings[path].secret && value !== null) return hidden;
  if (typeof value === 'string') return withoutPassword(value);
  return Array.isArray(value) ? value.map((item) => (typeof item === 'string' ? withoutPassword(item) : item)) : value;
}

function withoutPassword(text: string): string {
  return text.replaceAll(passwordInUrl, `$1${hidden}@`);
}
