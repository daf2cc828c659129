import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { createToken } from '../../commands/tokens/create-tokens.js';
import { checkCreation } from '../../commands/tokens/creation.js';
import { transformFor } from '../../domain/access/decide-access.js';
import type { FieldErrors } from '../../domain/field-errors.js';
import { isJsonObject } from '../../domain/json.js';
import { tokenTypes } from '../../domain/token/types/token-type.js';
import { problemFrom } from '../../http/problem/problem.js';
import { problemCatalogue } from '../../http/problem/problem-catalogue.js';
import { maskedAnswer } from '../../queries/release.js';
import type { Rejected } from '../../vault/result.js';
import type { ConsolePage, Visit } from '../page.js';
import { dataPlaces, errorsBeside, requestOf, shapeOf, type TypedToken, tokenForm } from '../token-form.js';
import { released, tokenPath } from '../token-sheet.js';
import { validForm } from '../typed-form.js';

const path = '/new-token';
const rowsOfMetadata = 3;
const access = { session: 'private', permission: 'token:create' } as const;
const choice = z.object({ type: z.enum(tokenTypes).default('token') });

/**
 * Creates a token. The page's path does not begin with `/tokens/`, because the text after that prefix may be a token's
 * id. The page's URLs never contain anything that a person typed.
 */
export const newTokenPage: ConsolePage = {
  routes: [
    {
      method: 'GET',
      path,
      ...access,
      handle(visit) {
        const { type } = visit.query(choice);
        return showForm(visit, { ...tokenForm.parse({}), type, request: visit.vault.random.uuid() }, {}, 200);
      },
    },
    { method: 'POST', path, ...access, handle: create },
    { method: 'POST', path: `${path}/check`, ...access, handle: check },
  ],
};

/** Checks the form and returns the errors that the vault would report. Does not store anything. */
async function check(visit: Visit): Promise<FastifyReply> {
  const { vault, context } = visit;
  const typed = validForm(visit, tokenForm);
  const { request, errors } = await requestOf(vault.turns.begin(context.caller.tenantId), typed);
  const checked = await checkCreation(vault, context, request);
  return visit.json({ errors: errorsOf(typed, errors, checked.ok ? null : checked) });
}

async function create(visit: Visit): Promise<FastifyReply> {
  const { vault, context } = visit;
  const typed = validForm(visit, tokenForm);
  const { request, errors } = await requestOf(vault.turns.begin(context.caller.tenantId), typed);
  if (Object.keys(errors).length > 0) {
    const checked = await checkCreation(vault, context, request);
    return showForm(visit, typed, errorsOf(typed, errors, checked.ok ? null : checked), 400);
  }
  // The idempotency key contains the whole form. If a person changes the form and submits it again, the vault creates a
  // second token.
  const idempotency = { method: 'POST', path: `console:${path}`, key: JSON.stringify(typed) };
  const created = await createToken(
    vault,
    { ...context, idempotency: typed.request === '' ? null : idempotency },
    request,
  );
  if (!created.ok) {
    const beside = errorsOf(typed, {}, created);
    if (Object.keys(beside).length === 0) throw problemFrom(created);
    return showForm(visit, typed, beside, problemCatalogue[created.code].status);
  }
  // A retry receives the response to the earlier create request. Its plaintext is not shown, so no reveal is recorded.
  const token = await released(visit, maskedAnswer(created.value));
  const { containers, _extras: extras } = token;
  const isOld = isJsonObject(extras) && extras['deduplicated'] === true;
  const places = Array.isArray(containers) ? containers.map(String) : [];
  if (transformFor(visit.caller, 'token:read', places) === null) {
    const model = { id: created.value.id, isOld };
    return visit.page('tokens/stored', model, { title: 'The token is stored' });
  }
  const text = isOld ? 'An equal token already existed. This is that token.' : 'The token is stored.';
  return visit.redirect(tokenPath(created.value.id), { tone: 'good', text });
}

/**
 * Returns the error messages, keyed by the fields that show them. Returns no messages for a rejection that a person
 * cannot correct by changing a field.
 */
function errorsOf(typed: TypedToken, own: FieldErrors, rejected: Rejected | null): Readonly<Record<string, string>> {
  const found = rejected?.code === 'validation_failed' ? (rejected.errors ?? {}) : {};
  const beside = errorsBeside({ ...found, ...own }, typed, dataPlaces(typed.type));
  if (rejected?.code === 'id_in_use') return { ...beside, id: 'Another token has this id.' };
  if (rejected?.code === 'forbidden') {
    return { ...beside, containers: 'Your application may not create tokens in these containers.' };
  }
  return beside;
}

function showForm(visit: Visit, typed: TypedToken, errors: Readonly<Record<string, string>>, status: number) {
  const { metadata_key: keys, metadata_value: values } = typed;
  const fields: Readonly<Record<string, unknown>> = typed;
  const { fields: shape, ...rest } = shapeOf(typed.type);
  const errorOf = (name: string): string => errors[name] ?? '';
  const model = {
    typed,
    ...rest,
    formError: errorOf('form'),
    hasErrors: Object.keys(errors).some((name) => name !== 'form'),
    dataFields: shape.map((field) => ({
      ...field,
      value: String(fields[field.name] ?? ''),
      error: errorOf(field.name),
    })),
    rows: Array.from({ length: Math.max(rowsOfMetadata, keys.length) }, (_, index) => ({
      number: index + 1,
      key: keys[index] ?? '',
      value: values[index] ?? '',
    })),
    errors: Object.fromEntries(
      ['text', 'id', 'containers', 'metadata', 'expires_at', 'mask', 'search_indexes', 'fingerprint_expression'].map(
        (name) => [name, errorOf(name)],
      ),
    ),
    areRulesOpen: ['mask', 'search_indexes', 'fingerprint_expression'].some((name) => errorOf(name) !== ''),
  };
  return visit.page('tokens/new', model, { title: 'New token', status });
}
