import type { Config } from './config.js';
import { type SettingPath, settingPaths, settings } from './settings.js';

const hidden = '[hidden]';
const passwordInUrl = /([a-z][a-z0-9+.-]*:\/\/)[^/?#\s]*@/gi;

/**
 * Every setting with its value and where that comes from, for `strongroom config print`: aligned lines, or one JSON
 * object by path. Secret values are replaced, and so are user and password in anything that looks like a URL.
 */
export function printConfig(config: Config, asJson: boolean): string {
  const rows = settingPaths.map((path) => {
    return { path, value: shown(config, path), source: config.sources[path] };
  });
  if (asJson) {
    return JSON.stringify(Object.fromEntries(rows.map(({ path, ...row }) => [path, row])), null, 2);
  }
  const width = Math.max(...settingPaths.map((path) => path.length));
  return rows.map((row) => `${row.path.padEnd(width)}  ${asText(row.value)}  (${row.source})`).join('\n');
}

function shown(config: Config, path: SettingPath): unknown {
  const value = config.settings[path];
  if (settings[path].secret && value !== null) return hidden;
  if (typeof value === 'string') return withoutPassword(value);
  return Array.isArray(value) ? value.map(withoutPassword) : value;
}

function withoutPassword(text: string): string {
  return text.replaceAll(passwordInUrl, `$1${hidden}@`);
}

function asText(value: unknown): string {
  if (value === null || (Array.isArray(value) && value.length === 0)) return '-';
  return Array.isArray(value) ? value.join(',') : String(value);
}
