import type { AccessRule } from '../domain/access/access-rule.js';
import type { ApplicationType } from '../domain/access/application-type.js';
import type { AccessFields } from '../domain/access/parse-access.js';
import { permissionCatalogue } from '../domain/access/permission.js';
import { transforms } from '../domain/access/transform.js';
import type { FieldErrors } from '../domain/field-errors.js';
import type { Json } from '../domain/json.js';
import type { ApplicationDocument } from '../domain/tenancy/documents.js';
import { Problem } from '../http/problem/problem.js';
import { errorOf, type TypedForm } from './typed-form.js';

type RuleForm = {
  readonly description: string;
  readonly priority: string;
  readonly container: string;
  readonly transform: string;
  readonly permissions: readonly string[];
};

/** The fields of an application, as a person typed them into the form. */
export type ApplicationForm = {
  readonly name: string;
  readonly expiresAt: string;
  readonly uses: 'permissions' | 'rules';
  readonly permissions: readonly string[];
  readonly rules: readonly RuleForm[];
};

const rulesMax = 50;
/**
 * A form with at most this many rules shows all of them expanded. A longer form expands only the rules that are being
 * edited, to keep the page small.
 */
const openMax = 20;
const openWithErrorsMax = 10;
/**
 * The form reads at most this many permissions of a rule. A rule can have at most 50, so the vault still rejects the
 * form. Threat: a client posts a million permissions, and splitting them stalls all callers.
 */
const permissionsMax = 100;
const emptyRule: RuleForm = { description: '', priority: '1', container: '/', transform: 'mask', permissions: [] };

/** Returns the form for a new application. */
export function emptyForm(type: ApplicationType): ApplicationForm {
  const uses = type === 'management' ? 'permissions' : 'rules';
  return { name: '', expiresAt: '', uses, permissions: [], rules: type === 'management' ? [] : [emptyRule] };
}

/** Returns the form for an existing application, with its saved values. */
export function formOf({ name, access, expires_at: expiresAt }: ApplicationDocument): ApplicationForm {
  return {
    name,
    expiresAt: expiresAt === null ? '' : expiryText(expiresAt),
    uses: access.kind,
    permissions: access.kind === 'permissions' ? access.permissions : [],
    rules: access.kind === 'rules' ? access.rules.map(ruleForm) : [],
  };
}

/** Formats a time as a person would type it: `2030-01-31` or `2030-01-31T12:00:00Z`. */
function expiryText(at: number): string {
  return new Date(at).toISOString().replace('.000Z', 'Z').replace('T00:00:00Z', '');
}

function ruleForm({ priority, ...rule }: AccessRule): RuleForm {
  return { ...rule, priority: String(priority) };
}

/** Returns the application fields of a posted form. `stored` is the application that the form changes. */
export function postedForm(form: TypedForm, stored?: ApplicationDocument): ApplicationForm {
  const numbers = form.names.flatMap((name) => /^rules\.(\d{1,9})\./.exec(name)?.[1] ?? []);
  const known = [...new Set(numbers)].sort((one, other) => Number(one) - Number(other));
  // Threat: a client posts thousands of rules, and the page takes a long time to render. The editor never sends more
  // than `rulesMax` rules.
  if (known.length > rulesMax)
    throw new Problem('validation_failed', { errors: { rules: [`must contain 1 to ${rulesMax} access rules`] } });
  const storedRules = stored?.access.kind === 'rules' ? stored.access.rules : [];
  const descriptions = storedRules.map(({ description }) => description);
  return {
    name: form.text('name', stored?.name),
    expiresAt: form.text('expires_at'),
    uses: form.text('uses') === 'rules' ? 'rules' : 'permissions',
    permissions: form.values('permissions'),
    rules: known.map((number) => ({
      description: form.text(`rules.${number}.description`, ...descriptions),
      priority: form.text(`rules.${number}.priority`),
      container: form.text(`rules.${number}.container`),
      transform: form.text(`rules.${number}.transform`),
      // A collapsed rule sends its permissions in one field. This keeps a page with 50 rules small.
      permissions: form.values(`rules.${number}.permissions`).join(' ').split(/ +/, permissionsMax).filter(Boolean),
    })),
  };
}

/** Returns the permissions or rules of the form as the fields of an API request. The API validates these fields. */
export function accessFields({ uses, permissions, rules }: ApplicationForm): AccessFields {
  if (uses === 'permissions') return { permissions: [...permissions] };
  return {
    rules: rules.map(({ priority, permissions: granted, ...rule }) => ({
      ...rule,
      priority: priorityOf(priority),
      permissions: [...granted],
    })),
  };
}

/**
 * Converts text to a number. Returns null for empty text, and any other text unchanged, so that the validation rejects
 * it.
 */
function priorityOf(text: string): Json {
  if (text === '') return null;
  // Converts no text whose number would be rounded.
  return /^-?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text;
}

/**
 * The form after a person has pressed a button. `focus` is the index of the rule that receives the focus, or null if no
 * rule receives it.
 */
type Edited = { readonly form: ApplicationForm; readonly focus: number | null };

/**
 * Applies the button that was pressed in the rule list, such as `add`, `open.2`, `remove.2`, `up.2` or `down.2`.
 * Returns null for all other buttons.
 */
export function edited(form: ApplicationForm, button: string): Edited | null {
  const { rules } = form;
  const [, verb, number] = /^(add|open|remove|up|down)(?:\.(\d{1,2}))?$/.exec(button) ?? [];
  if (verb === undefined) return null;
  if (verb === 'add') {
    if (rules.length >= rulesMax) return { form, focus: null };
    return { form: { ...form, uses: 'rules', rules: [...rules, emptyRule] }, focus: rules.length };
  }
  const index = Number(number ?? rulesMax);
  const rule = rules[index];
  if (rule === undefined) return { form, focus: null };
  if (verb === 'open') return { form, focus: index };
  const others = rules.filter((one) => one !== rule);
  if (verb === 'remove') return { form: { ...form, rules: others }, focus: Math.min(index, others.length - 1) };
  const to = Math.min(rules.length - 1, Math.max(0, index + (verb === 'up' ? -1 : 1)));
  return { form: { ...form, rules: others.toSpliced(to, 0, rule) }, focus: to };
}

/** Returns the fields that the form's template needs. */
export function formModel(type: ApplicationType, form: ApplicationForm, errors: FieldErrors, focus: number | null) {
  const allowed = permissionCatalogue.filter(({ application_types: types }) => types.includes(type));
  const withErrors = form.rules.flatMap((_, index) => (hasErrorsIn(errors, index) ? [index] : []));
  const opened = new Set([focus, ...withErrors.slice(0, openWithErrorsMax)]);
  const checked = (granted: readonly string[]) =>
    allowed.map(({ type: name, description }) => ({
      name,
      description,
      label: name.replace('token:', ''),
      isChecked: granted.includes(name),
    }));
  return {
    type,
    name: form.name,
    expiresAt: form.expiresAt,
    uses: form.uses,
    permissions: checked(form.permissions),
    rules: form.rules.map((rule, index) => ({
      ...rule,
      permissions: checked(rule.permissions),
      isOpen: form.rules.length <= openMax || opened.has(index),
      hasFocus: index === focus,
      errors: {
        rule: errorOf(errors, `rules[${index}]`),
        description: errorOf(errors, `rules[${index}].description`),
        priority: errorOf(errors, `rules[${index}].priority`),
        container: errorOf(errors, `rules[${index}].container`),
        transform: errorOf(errors, `rules[${index}].transform`),
        permissions: permissionsError(errors, `rules[${index}].permissions`, rule.permissions),
      },
    })),
    transforms: type === 'public' ? transforms.filter((transform) => transform !== 'reveal') : transforms,
    isFull: form.rules.length >= rulesMax,
    errors: {
      name: errorOf(errors, 'name'),
      expiresAt: errorOf(errors, 'expires_at'),
      permissions: permissionsError(errors, 'permissions', form.permissions),
      // Shows only errors that concern the list as a whole. An error in one rule appears next to the fields of that
      // rule.
      rules: errors['rules'] === undefined ? null : errorOf({ rules: errors['rules'] }, 'rules'),
    },
    hasErrors: Object.keys(errors).length > 0,
  };
}

function permissionsError(errors: FieldErrors, path: string, granted: readonly string[]): string | null {
  const error = errorOf(errors, path);
  return error !== null && granted.length === 0 ? 'Choose at least one permission.' : error;
}

function hasErrorsIn(errors: FieldErrors, index: number): boolean {
  return Object.keys(errors).some((path) => path.startsWith(`rules[${index}]`));
}
