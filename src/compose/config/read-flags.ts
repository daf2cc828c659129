import { fromText } from './from-text.js';
import type { Given, Reading } from './given.js';
import { flagMember, flagName } from './names.js';
import { settingPaths, settings } from './settings.js';

/**
 * The settings among the flags of a verb, by the members commander gives them. Others belong to the verb; commander has
 * refused those that nobody knows.
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
