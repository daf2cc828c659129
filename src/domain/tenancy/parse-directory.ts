import type { ApplicationType } from '../access/application-type.js';
import { type AccessFields, parseAccess } from '../access/parse-access.js';
import type { TenantSettings } from '../access/tenant-settings.js';
import { type Checked, errorsOf, invalid, valid } from '../field-errors.js';
import { isJsonObject, type Json } from '../json.js';
import { codePointCount, isWellFormed } from '../text.js';
import { checkExpiresAt } from '../token/fields/expires-at.js';
import type { ApplicationSpec } from './application-spec.js';
import { documentOf } from './documents.js';

/** The fields of a request to create an application. The JSON types of the fields have already been checked. */
type ApplicationFields = AccessFields & {
  readonly name: string;
  readonly type: ApplicationType;
  readonly expires_at?: string | null | undefined;
};

/** Parses a request to create an application. The expiry must be after `now`. See docs/contract.md, "Applications". */
export function parseApplication(fields: ApplicationFields, now: number): Checked<ApplicationSpec> {
  const name = parseName(fields.name);
  const access = parseAccess(fields, fields.type);
  const expiresAt = checkExpiresAt(fields.expires_at ?? null, now);
  if (!(name.ok && access.ok && expiresAt.ok)) {
    return { ok: false, errors: errorsOf([name, access, expiresAt]) ?? {} };
  }
  const spec = { name: name.value, type: fields.type, access: documentOf(access.value), expiresAt: expiresAt.value };
  return valid(spec);
}

const charactersMax = 200;

const control = /\p{Cc}/u;

/**
 * Parses the name of a tenant or an application (1-200 characters). Rejects control characters, because CLI commands
 * print names, and a terminal would interpret control characters. See docs/contract.md, "Applications".
 */
export function parseName(text: string): Checked<string> {
  const fits = text !== '' && codePointCount(text) <= charactersMax && isWellFormed(text) && !control.test(text);
  return fits
    ? valid(text)
    : invalid('name', `must have 1 to ${charactersMax} characters, none of them a control character`);
}

const names = ['deduplicate_tokens', 'keep_superseded_data', 'show_fingerprints'] as const;

/**
 * Parses the settings in a request. Each setting must be "true" or "false". A setting that is missing or null stays
 * unchanged. Rejects unknown names, because the caller would otherwise believe that such a setting has an effect. See
 * docs/contract.md, "Tenants".
 */
export function parseSettings(value: Json | undefined): Checked<Partial<TenantSettings>> {
  if (value === undefined || value === null) return valid({});
  if (!isJsonObject(value)) return invalid('settings', 'must be an object');
  // Stops at the first unknown name, because a 4 MiB body may contain 250,000 of them.
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
