import { type Checked, errorsOf, invalid, valid } from '../field-errors.js';
import { isJsonObject, type Json } from '../json.js';
import type { TenantSettings } from './documents.js';

const names = ['deduplicate_tokens', 'keep_superseded_data', 'show_fingerprints'] as const;

/**
 * The settings that a request gives, each "true" or "false"; one that it leaves out or gives as null stays as it is. A
 * name that is no setting is refused: ignored, it would look as if it were in force. Contract, section 10.
 */
export function parseSettings(value: Json | undefined): Checked<Partial<TenantSettings>> {
  if (value === undefined || value === null) return valid({});
  if (!isJsonObject(value)) return invalid('settings', 'must be an object');
  // One unknown name is enough: a body of 4 MiB has 250,000.
  const unknown = Object.keys(value).find((name) => value[name] !== null && !names.some((known) => known === name));
  if (unknown !== undefined) return invalid('settings', `may only have ${names.join(', ')}`);
  const given = Object.entries(value).filter(([, setting]) => setting !== null);
  const errors = errorsOf(given.map(([name, setting]) => checkSetting(name, setting)));
  return errors === null ? valid(Object.fromEntries(given)) : { ok: false, errors };
}

function checkSetting(name: string, setting: Json | undefined): Checked<null> {
  if (setting === 'true' || setting === 'false') return valid(null);
  return invalid(`settings.${name}`, 'must be "true" or "false"');
}
