import { crossChecks } from './cross-checks.js';
import { type Given, readEnvironment, readFile, readFlags, type Source } from './read-settings.js';
import { type SettingPath, type Settings, settingPaths, settings } from './settings.js';

export type Config = {
  readonly settings: Settings;
  readonly sources: Readonly<Record<SettingPath, Source>>;
};

export type ConfigResult =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Loads the settings from a JSON file, then from variables, then from flags. A later source overrides an earlier
 * source, and only the final value is checked (docs/contract.md, "Settings"). `flags` contains the options of a
 * commander command.
 *
 * The result describes each problem in one line. The line names the setting as it is written in its source, such as a
 * flag or a variable, and never contains the value. Only this file and `client-settings.ts` read the environment.
 */
export function loadConfig(from: {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly configFile?: string;
  readonly flags: Readonly<Record<string, unknown>>;
}): ConfigResult {
  const readings = [
    ...(from.configFile === undefined ? [] : [readFile(from.configFile)]),
    readEnvironment(from.env ?? process.env),
    readFlags(from.flags),
  ];
  const given = new Map<SettingPath, Given>(settingPaths.map((path) => [path, defaultOf(path)]));
  for (const item of readings.flatMap((reading) => reading.given)) given.set(item.path, item);

  const problems = readings.flatMap((reading) => reading.problems);
  const checked = check([...given.values()]);
  problems.push(...checked.problems);
  const nameOf = (path: SettingPath) => given.get(path)?.name ?? path;
  if (checked.problems.length === 0) problems.push(...crossChecks(checked.settings, nameOf));
  if (problems.length > 0) return { ok: false, problems: [...new Set(problems)] };
  const sources = Object.fromEntries(
    [...given.values()].map(({ path, source }) => [path, source]),
  ) as Config['sources'];
  return { ok: true, config: { settings: checked.settings, sources } };
}

function defaultOf(path: SettingPath): Given {
  return { path, source: 'default', name: path, value: settings[path].default };
}

/** Checks each value against the schema of its setting. The settings are complete only if no problems were found. */
function check(given: readonly Given[]): { settings: Settings; problems: readonly string[] } {
  const values = new Map<SettingPath, unknown>();
  const problems: string[] = [];
  for (const { path, name, value } of given) {
    const parsed = settings[path].schema.safeParse(value);
    if (parsed.success) values.set(path, parsed.data);
    else for (const issue of parsed.error.issues) problems.push(`${name}${place(issue.path)}: ${issue.message}`);
  }
  return { settings: Object.fromEntries(values) as Settings, problems };
}

/** Returns text that states which item of a list is invalid. Items are counted from 1. */
function place(path: readonly PropertyKey[]): string {
  const [index] = path;
  return typeof index === 'number' ? ` (item ${index + 1})` : '';
}
