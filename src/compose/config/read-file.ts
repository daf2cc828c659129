import { readFileSync } from 'node:fs';
import { isJsonObject, type Json, type JsonObject } from '../../domain/json.js';
import { parseJsonBody } from '../../http/body/parse-json-body.js';
import type { Given, Reading } from './given.js';
import { isSettingPath, settingPaths } from './settings.js';
import { unknownSetting } from './unknown-setting.js';

/** The settings of a JSON file, in which a dot of a path is an object in an object; the whole path as a key is fine too. */
export function readFile(file: string): Reading {
  const contents = parse(file);
  if (typeof contents === 'string') return { given: [], problems: [`${file}: ${contents}`] };
  const given: Given[] = [];
  const problems: string[] = [];
  for (const [path, value] of leaves(contents, '')) {
    const name = `${path} (${file})`;
    if (isSettingPath(path)) given.push({ path, source: 'file', name, value });
    else if (isGroup(path)) problems.push(`${name}: must be an object that holds settings`);
    else problems.push(`${name}: ${unknownSetting(path, (known) => known)}`);
  }
  return { given, problems };
}

/** What the file holds, or what is wrong with it. */
function parse(file: string): JsonObject | string {
  try {
    const parsed = parseJsonBody(readFileSync(file));
    if (!parsed.ok) return `${parsed.path ?? 'the file'} ${parsed.message}`;
    return isJsonObject(parsed.value) ? parsed.value : 'the file must hold a JSON object';
  } catch {
    return 'cannot be read; check the path and that this user may read it';
  }
}

/** Every value with its path. An object is looked into when settings are in it, else it is a value. */
function leaves(value: JsonObject, prefix: string): (readonly [string, Json])[] {
  return Object.entries(value).flatMap(([key, member]) => {
    const path = prefix + key;
    return isGroup(path) && isJsonObject(member) ? leaves(member, `${path}.`) : [[path, member]];
  });
}

function isGroup(path: string): boolean {
  return settingPaths.some((setting) => setting.startsWith(`${path}.`));
}
