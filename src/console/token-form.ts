import { z } from 'zod';
import type { FieldErrors } from '../domain/field-errors.js';
import type { Json } from '../domain/json.js';
import type { TokenRequest } from '../domain/token/draft-token.js';
import { type TokenType, tokenTypes } from '../domain/token/types/token-type.js';
import { typeRules } from '../domain/token/types/type-rules.js';
import { parsingJsonBody } from '../http/body/parse-json-body.js';
import type { Slices } from '../vault/turns.js';
import { sentence } from './shown-text.js';
import { shortText, shortTexts } from './typed-form.js';

/** A form field for one part of a token's data. `path` is the path of this part in the API. */
export type DataField = {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly path: string;
  readonly isRequired: boolean;
};

type TypeForm = { readonly label: string; readonly fields: readonly DataField[] };

const dataField = (name: string, path: string, label: string, hint: string, isRequired = true): DataField => ({
  name,
  path,
  label,
  hint,
  isRequired,
});

/** The form fields for each token type. The form for the type `token` has a text area instead of fields. */
const typeForms: Readonly<Record<TokenType, TypeForm>> = {
  token: { label: 'Text or JSON', fields: [] },
  card: {
    label: 'Card',
    fields: [
      dataField('number', 'data.number', 'Card number', '12 to 19 digits'),
      dataField('expiration_month', 'data.expiration_month', 'Expiry month', '1 to 12', false),
      dataField('expiration_year', 'data.expiration_year', 'Expiry year', 'Four digits', false),
      dataField('cvc', 'data.cvc', 'Verification code', 'Kept for a short time', false),
    ],
  },
  bank: {
    label: 'Bank account',
    fields: [
      dataField('routing_number', 'data.routing_number', 'Routing number', 'Nine digits'),
      dataField('account_number', 'data.account_number', 'Account number', 'Up to 17 digits'),
    ],
  },
  card_number: {
    label: 'Card number',
    fields: [dataField('value', 'data', 'Card number', '13 to 19 digits')],
  },
  us_bank_account_number: {
    label: 'US account number',
    fields: [dataField('value', 'data', 'Account number', '3 to 17 digits')],
  },
  us_bank_routing_number: {
    label: 'US routing number',
    fields: [dataField('value', 'data', 'Routing number', 'Nine digits')],
  },
  social_security_number: {
    label: 'Social security number',
    fields: [dataField('value', 'data', 'Social security number', 'Nine digits, such as 123-45-6789')],
  },
  employer_id_number: {
    label: 'Employer id',
    fields: [dataField('value', 'data', 'Employer identification number', 'Nine digits, such as 12-3456789')],
  },
};

const text = shortText.default('');
/** The maximum number of rows for metadata. A token can have at most 50 entries, and the forms add three empty rows. */
const rowsMax = 100;
/**
 * A field that a form contains once for each row of metadata. Threat: a client posts thousands of rows, and the page
 * that shows them again stalls all callers.
 */
export const rowsField = shortTexts
  .refine((rows) => rows.length <= rowsMax, { error: `must have at most ${rowsMax} rows` })
  .default([]);

/** The values of the form, as a person typed them. */
export const tokenForm = z.object({
  number: text,
  expiration_month: text,
  expiration_year: text,
  cvc: text,
  routing_number: text,
  account_number: text,
  value: text,
  text: z.string().default(''),
  format: z.enum(['text', 'json']).default('text'),
  id: text,
  containers: text,
  expires_at: text,
  mask: z.string().default(''),
  search_indexes: text,
  fingerprint_expression: text,
  metadata_key: rowsField,
  metadata_value: rowsField,
  deduplicate_token: z.enum(['', 'true', 'false']).default(''),
  /**
   * A random value that is part of the idempotency key. It differs each time a person opens the form. Submitting the
   * same form twice therefore creates only one token.
   */
  request: z.string().max(200).default(''),
  type: z.enum(tokenTypes, { error: 'is not a token type' }).default('token'),
});

export type TypedToken = z.output<typeof tokenForm>;

/** Returns the fields that the template needs to show the form for a token type. */
export function shapeOf(type: TokenType) {
  const { defaultContainer, defaultFingerprintExpression, defaultMask, defaultSearchIndexes } = typeRules[type];
  return {
    fields: typeForms[type].fields,
    container: defaultContainer,
    fingerprint: defaultFingerprintExpression,
    mask: defaultMask === null ? null : JSON.stringify(defaultMask, null, 2),
    indexes: defaultSearchIndexes.join('\n'),
    types: tokenTypes.map((one) => ({ type: one, label: typeForms[one].label, isChosen: one === type })),
  };
}

/** Converts a form to a create request. In addition, returns an error for each field that contains invalid JSON. */
export async function requestOf(
  slices: Slices,
  typed: TypedToken,
): Promise<{ readonly request: TokenRequest; readonly errors: FieldErrors }> {
  const data = await dataOf(slices, typed);
  const mask = typed.mask.trim() === '' ? null : await maskOf(slices, typed.mask);
  const metadata = metadataOf(typed);
  const request: TokenRequest = {
    id: absentIfEmpty(typed.id.trim()),
    type: typed.type,
    data: data.value,
    mask: mask?.value ?? null,
    containers: listOf(typed.containers),
    metadata: metadata.value,
    search_indexes: listOf(typed.search_indexes),
    fingerprint_expression: absentIfEmpty(typed.fingerprint_expression),
    deduplicate_token: typed.deduplicate_token === '' ? null : typed.deduplicate_token === 'true',
    expires_at: absentIfEmpty(typed.expires_at.trim()),
  };
  return { request, errors: { ...data.errors, ...mask?.errors, ...metadata.errors } };
}

type Read = { readonly value: Json; readonly errors: FieldErrors };

async function dataOf(slices: Slices, { type, ...typed }: TypedToken): Promise<Read> {
  const { fields } = typeForms[type];
  const values: Readonly<Record<string, unknown>> = typed;
  // People write long numbers with spaces. These spaces are never part of the number.
  const typedValue = ({ name }: DataField) => String(values[name] ?? '').replaceAll(/\s/g, '');
  const [only] = fields;
  if (only?.path === 'data') return { value: typedValue(only), errors: {} };
  if (only !== undefined) {
    const members = fields.map((field) => [field.name, typedValue(field)] as const).filter(([, value]) => value !== '');
    return { value: Object.fromEntries(members), errors: {} };
  }
  const source = withLineFeeds(typed.text);
  if (source === '') return { value: '', errors: { data: ['is required'] } };
  return typed.format === 'json' ? jsonOf(slices, source, 'data') : { value: source, errors: {} };
}

/** Parses a mask, which is either JSON or one expression. */
async function maskOf(slices: Slices, given: string): Promise<Read> {
  const source = withLineFeeds(given).trim();
  return /^(?:\{(?![{%])|\[|")/.test(source) ? jsonOf(slices, source, 'mask') : { value: source, errors: {} };
}

async function jsonOf(slices: Slices, source: string, path: string): Promise<Read> {
  const parsed = await slices.run(parsingJsonBody(Buffer.from(source)));
  if (parsed.ok) return { value: parsed.value, errors: {} };
  const at = parsed.path === undefined ? path : `${path}.${parsed.path}`;
  return { value: '', errors: { [at]: [parsed.message] } };
}

/**
 * Returns the metadata from the rows of a form. Each row contains a key and a value. Ignores rows in which both are
 * empty.
 */
export function metadataOf({
  metadata_key: keys,
  metadata_value: values,
}: Pick<TypedToken, 'metadata_key' | 'metadata_value'>): {
  readonly value: Readonly<Record<string, string>> | null;
  readonly errors: FieldErrors;
} {
  const metadata = new Map<string, string>();
  for (const [index, key] of keys.entries()) {
    const value = withLineFeeds(values[index] ?? '');
    if (key === '' && value !== '') return { value: null, errors: { metadata: ['a value has no key'] } };
    if (metadata.has(key)) return { value: null, errors: { metadata: ['a key appears twice'] } };
    if (key !== '') metadata.set(key, value);
  }
  return { value: metadata.size === 0 ? null : Object.fromEntries(metadata), errors: {} };
}

/** Replaces each line break with a single line feed. A browser sends each line break in a form as two characters. */
export function withLineFeeds(given: string): string {
  return given.replaceAll('\r\n', '\n');
}

/** Returns the lines that are not empty, or null if all lines are empty. */
export function listOf(given: string): readonly string[] | null {
  const lines = withLineFeeds(given)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return lines.length === 0 ? null : lines;
}

function absentIfEmpty(given: string): string | null {
  return given === '' ? null : given;
}

/** A form field and the path of its value in a request. */
type Place = { readonly name: string; readonly path: string };

const ownPlaces: readonly Place[] = [
  'containers',
  'metadata',
  'search_indexes',
  'mask',
  'fingerprint_expression',
  'expires_at',
  'id',
].map((name) => ({ name, path: name }));

/** Returns the data fields in the form for a token type. */
export function dataPlaces(type: TokenType): readonly Place[] {
  return type === 'token' ? [{ name: 'text', path: 'data' }] : typeForms[type].fields;
}

/** The text of the fields in which each line is one item of a list. */
type Lines = Partial<Pick<TypedToken, 'containers' | 'search_indexes'>>;

/**
 * Returns the errors in a request, keyed by the form fields that show them. An error that belongs to no form field has
 * the key `form`. If an error concerns one line of a field, its message begins with the number of the line. If it
 * concerns another part of a field, such as `mask.number`, its message contains the path of that part.
 */
export function errorsBeside(
  errors: FieldErrors,
  lines: Lines,
  places: readonly Place[] = [],
): Readonly<Record<string, string>> {
  const all = [...places, ...ownPlaces];
  const lineOf = lineFinder(lines);
  const beside = new Map<string, string[]>();
  for (const [path, messages] of Object.entries(errors)) {
    const exact = all.find((place) => place.path === path);
    const around = all.find((place) => path.startsWith(`${place.path}.`) || path.startsWith(`${place.path}[`));
    const name = (exact ?? around)?.name ?? 'form';
    const line = lineOf(path);
    const texts = messages.map((message) =>
      exact === undefined && line === null ? `${path} ${message}.` : sentence(message, line),
    );
    beside.set(name, [...(beside.get(name) ?? []), ...texts]);
  }
  return Object.fromEntries([...beside].map(([name, messages]) => [name, messages.join(' ')]));
}

/**
 * Creates a function that returns the line that an item such as `containers[1]` comes from, or null if the path names
 * no such item. The function counts the lines of a field once, and not for each error. Threat: a form with a million
 * lines and errors in several of them blocks the process for seconds.
 */
function lineFinder(lines: Lines): (path: string) => string | null {
  const counted = new Map<string, readonly number[]>();
  return (path) => {
    const [, name, index] = /^(containers|search_indexes)\[(\d{1,9})\]$/.exec(path) ?? [];
    if (name === undefined) return null;
    const numbers = counted.get(name) ?? filledLines(lines[name as keyof Lines] ?? '');
    counted.set(name, numbers);
    const number = numbers[Number(index)];
    return number === undefined ? null : `Line ${number}`;
  };
}

/** Returns the numbers of the lines that are not empty. Empty lines are not items, but a person counts them. */
function filledLines(given: string): readonly number[] {
  return given.split('\n').flatMap((line, index) => (line.trim() === '' ? [] : [index + 1]));
}
