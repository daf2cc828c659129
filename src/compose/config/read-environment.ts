import { fromText } from './from-text.js';
import type { Given, Reading } from './given.js';
import { environmentName, environmentPrefix } from './names.js';
import { settingPaths, settings } from './settings.js';
import { unknownSetting } from './unknown-setting.js';

/** Variables of tests and of the servers that they start, which share our prefix and are no settings. */
const foreign = /^STRONGROOM_(TEST_.*|CRASH_.*|SERVERS_DIR|MONGO_NODES|MONGO_PORT|REDIS_PORT)$/;

/** The settings in variables. An unknown `STRONGROOM_…` is a problem: a misspelt one would silently have no effect. */
export function readEnvironment(env: Readonly<Record<string, string | undefined>>): Reading {
  const paths = new Map(settingPaths.map((path) => [environmentName(path), path]));
  const given: Given[] = [];
  const problems: string[] = [];
  for (const [name, text] of Object.entries(env)) {
    if (text === undefined || !name.startsWith(environmentPrefix) || foreign.test(name)) continue;
    const path = paths.get(name);
    if (path !== undefined) {
      given.push({ path, source: 'environment', name, value: fromText(text, settings[path].form) });
    } else {
      const written = name.slice(environmentPrefix.length).toLowerCase();
      problems.push(`${name}: ${unknownSetting(written, environmentName)}`);
    }
  }
  return { given, problems };
}
