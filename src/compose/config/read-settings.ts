import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { isJsonObject, type Json, type JsonObject } from '../../domain/json.js';
import { nearest } from '../../domain/nearest.js';
import { parseJsonBody } from '../../http/body/parse-json-body.js';
import { othersWrite } from '../files/own-group.js';
import { shellWord } from '../files/shell-word.js';
import { clientSettingPaths } from './client-settings.js';
import { environmentName, environmentPrefix, flagMember, flagName, type TextForm } from './setting.js';
import { isSettingPath, type SettingPath, settingPaths, settings } from './settings.js';

export type Source = 'default' | 'file' | 'environment' | 'flag';

/** A value that has not been checked yet, and the name of the flag, variable or file member that contains it. */
export type Given = {
  readonly path: SettingPath;
  readonly source: Source;
  readonly name: string;
  readonly value: unknown;
};

/** The settings from one source, and one line of text for each problem. */
type Reading = { readonly given: readonly Given[]; readonly problems: readonly string[] };

/** Variables for tests and for the servers started by tests. They have our prefix but are not settings. */
const foreign = /^STRONGROOM_(TEST_.*|CRASH_.*|SERVERS_DIR|MONGO_NODES|MONGO_PORT|REDIS_PORT)$/;
/** Variables that only some commands read. */
const clientVariables = new Set(clientSettingPaths.map(environmentName));

/**
 * Reads the settings from variables. An unknown `STRONGROOM_…` variable counts as a problem. Otherwise, a misspelled
 * name would have no effect, and the user would not notice.
 */
export function readEnvironment(env: Readonly<Record<string, string | undefined>>): Reading {
  const paths = new Map(settingPaths.map((path) => [environmentName(path), path]));
  const given: Given[] = [];
  const problems: string[] = [];
  for (const [name, text] of Object.entries(env)) {
    if (text === undefined || !name.startsWith(environmentPrefix)) continue;
    if (foreign.test(name) || clientVariables.has(name)) continue;
    const path = paths.get(name);
    if (path !== undefined) {
      given.push({ path, source: 'environment', name, value: fromText(text, settings[path].form) });
    } else {
      const written = name.slice(environmentPrefix.length).toLowerCase();
      problems.push(`${name}: ${unknownSetting(written, environmentName, [...settingPaths, ...clientSettingPaths])}`);
    }
  }
  return { given, problems };
}

/**
 * Reads the settings from a command's flags. Commander assigns the member names in `flags`. Ignores flags that are not
 * settings. They are the command's own flags, because commander has already rejected unknown flags.
 */
export function readFlags(flags: Readonly<Record<string, unknown>>): Reading {
  const given = settingPaths.flatMap((path): Given[] => {
    const value = flags[flagMember(path)];
    if (value === undefined) return [];
    const read = typeof value === 'string' ? fromText(value, settings[path].form) : value;
    return [{ path, source: 'flag', name: flagName(path), value: read }];
  });
  return { given, problems: [] };
}

/** Reads the settings from a JSON file. A path such as `a.b` may be written as nested objects or as one key. */
export function readFile(file: string): Reading {
  const contents = parse(file);
  if (typeof contents === 'string') return { given: [], problems: [`${file}: ${contents}`] };
  const given: Given[] = [];
  const problems: string[] = [];
  for (const [path, value] of leaves(contents, '')) {
    const name = `${path} (${file})`;
    if (given.some((other) => other.path === path)) problems.push(`${name}: occurs more than once; remove all but one`);
    else if (isSettingPath(path)) given.push({ path, source: 'file', name, value });
    else if (isGroup(path)) problems.push(`${name}: must be an object of settings`);
    else problems.push(`${name}: ${unknownSetting(path, (name) => name)}`);
  }
  return { given, problems };
}

/** Returns the content of the file, or a description of the problem with the file. */
function parse(file: string): JsonObject | string {
  let descriptor: number | null = null;
  try {
    descriptor = openSync(file, 'r');
    const stats = fstatSync(descriptor);
    // Threat: another user changes a setting that names a program, such as `root_key_command`, and the service runs that
    // program.
    if (stats.isFile() && othersWrite(stats)) {
      return `other users can change it; check its content, then run: chmod go-w ${shellWord(file)}`;
    }
    // The value of a repeated key would replace an earlier one without a message, even a whole group of settings.
    const parsed = parseJsonBody(readFileSync(descriptor), 'rejected');
    if (!parsed.ok) return `${parsed.path ?? 'the file'} ${parsed.message}`;
    return isJsonObject(parsed.value) ? parsed.value : 'the file must contain a JSON object';
  } catch {
    return 'cannot be read; check the path, and that this user may read it';
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

/**
 * Returns all values with their paths. Descends into an object if it contains settings, and treats any other object as
 * a value.
 */
function leaves(value: JsonObject, prefix: string): (readonly [string, Json])[] {
  return Object.entries(value).flatMap(([key, member]) => {
    const path = prefix + key;
    return isGroup(path) && isJsonObject(member) ? leaves(member, `${path}.`) : [[path, member]];
  });
}

function isGroup(path: string): boolean {
  return settingPaths.some((setting) => setting.startsWith(`${path}.`));
}

const booleans: Readonly<Record<string, boolean>> = { true: true, false: false, 1: true, 0: false };

/** Parses a value from text. Returns invalid text unchanged, and the setting's schema then rejects it. */
function fromText(text: string, form: TextForm): unknown {
  switch (form) {
    case 'text':
      return text;
    case 'number':
      return /^\d{1,15}(?:\.\d{1,15})?$/.test(text) ? Number(text) : text;
    case 'boolean':
      return Object.hasOwn(booleans, text) ? booleans[text] : text;
    case 'list':
      return text.trim() === '' ? [] : text.split(',').map((item) => item.trim());
    case 'json': {
      const parsed = parseJsonBody(text);
      return parsed.ok ? parsed.value : text;
    }
  }
}

/**
 * Returns the message for an unknown setting. `nameOf` returns the name of a setting in the form used by its source.
 */
function unknownSetting(
  path: string,
  nameOf: (path: string) => string,
  known: readonly string[] = settingPaths,
): string {
  if (path === 'root_key') {
    return (
      'the root key must not be a setting, because settings show up in lists of variables; put it into a file ' +
      `that only its owner can read, and set ${nameOf('root_key_file')} to the path`
    );
  }
  return `is not a setting; did you mean ${nameOf(nearest(path, known) ?? '')}?`;
}
