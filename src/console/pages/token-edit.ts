import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { updateToken } from '../../commands/tokens/update-token.js';
import { isJsonObject, type Json, type JsonObject } from '../../domain/json.js';
import type { TokenPatch } from '../../domain/token/draft-update.js';
import { entityTag } from '../../domain/token/entity-tag.js';
import { problemFrom } from '../../http/problem/problem.js';
import { maskedAnswer } from '../../queries/release.js';
import type { ConsolePage, Visit } from '../page.js';
import { errorsBeside, listOf, metadataOf, rowsField, withLineFeeds } from '../token-form.js';
import { findToken, released, tokenPath } from '../token-sheet.js';
import { shortText, validForm } from '../typed-form.js';

const emptyRows = 3;

const edit = z.object({
  revision: z.string().regex(/^\d{1,15}$/, { error: 'must be a revision' }),
  containers: shortText.default(''),
  expires_at: shortText.default(''),
  metadata_key: rowsField,
  metadata_value: rowsField,
});

type Edited = z.output<typeof edit>;

/** Changes the containers, metadata and expiry of a token. A PATCH of these fields does not need the token's data. */
export const tokenEditPage: ConsolePage = {
  routes: [
    {
      method: 'GET',
      path: '/tokens/:id/edit',
      session: 'private',
      permission: 'token:update',
      async handle(visit) {
        const { token, revision } = await storedToken(visit);
        return showForm(visit, typedOf(token, revision), {}, 200);
      },
    },
    {
      method: 'POST',
      path: '/tokens/:id/edit',
      session: 'private',
      permission: 'token:update',
      handle: save,
    },
  ],
};

async function save(visit: Visit): Promise<FastifyReply> {
  const { vault, context } = visit;
  const typed = validForm(visit, edit);
  const { token, revision } = await storedToken(visit);
  const metadata = metadataOf(typed);
  if (Object.keys(metadata.errors).length > 0) {
    return showForm(visit, typed, errorsBeside(metadata.errors, typed), 400);
  }
  if (String(revision) !== typed.revision) return showConflict(visit, typed);
  const patch = patchOf(token, typed, metadata.value ?? {});
  const id = visit.param('id');
  const updated = await updateToken(vault, { ...context, idempotency: null }, id, patch, entityTag(revision));
  if (updated.ok && updated.value.id !== id) {
    const form = 'Another token already has the fingerprint that this change would produce. Nothing was saved.';
    return showForm(visit, typed, { form }, 409);
  }
  if (updated.ok) return visit.redirect(tokenPath(id), { tone: 'good', text: 'The token is changed.' });
  if (updated.code === 'precondition_failed') return showConflict(visit, typed);
  if (updated.code === 'forbidden') {
    const containers = 'Your application may not move the token into these containers.';
    return showForm(visit, typed, { containers }, 403);
  }
  if (updated.errors === undefined) throw problemFrom(updated);
  return showForm(visit, typed, errorsBeside(updated.errors, typed), 400);
}

/** Returns the stored token. Records a read in the access log, because the form shows the token's metadata. */
async function storedToken(visit: Visit) {
  const answer = maskedAnswer(await findToken(visit, visit.param('id')));
  const token = await released(visit, answer);
  return { token, revision: answer.revision };
}

function typedOf(token: JsonObject, revision: number): Edited {
  const { containers, metadata, expires_at: expiresAt } = token;
  const entries = isJsonObject(metadata) ? Object.entries(metadata) : [];
  return {
    revision: String(revision),
    containers: Array.isArray(containers) ? containers.join('\n') : '',
    expires_at: typeof expiresAt === 'string' ? expiresAt : '',
    metadata_key: entries.map(([key]) => key),
    metadata_value: entries.map(([, value]) => String(value)),
  };
}

/** Returns only the fields that differ from the stored token. Submitting an unedited form therefore changes nothing. */
function patchOf(token: JsonObject, typed: Edited, metadata: Readonly<Record<string, string>>): TokenPatch {
  const before = typedOf(token, 0);
  const stored = isJsonObject(token['metadata']) ? Object.entries(token['metadata']) : [];
  const changed = new Map<string, Json>();
  for (const [key, value] of stored) {
    if (!Object.hasOwn(metadata, key)) changed.set(key, null);
    else if (metadata[key] !== withLineFeeds(String(value))) changed.set(key, metadata[key] ?? null);
  }
  const known = new Set(stored.map(([key]) => key));
  for (const [key, value] of Object.entries(metadata)) if (!known.has(key)) changed.set(key, value);
  return {
    ...(withLineFeeds(typed.containers) === before.containers
      ? {}
      : { containers: [...(listOf(typed.containers) ?? [])] }),
    ...(typed.expires_at.trim() === before.expires_at
      ? {}
      : { expires_at: typed.expires_at.trim() === '' ? null : typed.expires_at.trim() }),
    ...(changed.size === 0 ? {} : { metadata: Object.fromEntries(changed) }),
  };
}

/** Shows the form again with the typed values, and explains that someone else has changed the token. */
function showConflict(visit: Visit, typed: Edited): Promise<FastifyReply> {
  const form = 'Someone changed the token since you opened this form. Nothing was saved.';
  return showForm(visit, typed, { form }, 412);
}

function showForm(visit: Visit, typed: Edited, errors: Readonly<Record<string, string>>, status: number) {
  const id = visit.param('id');
  const { metadata_key: keys, metadata_value: values } = typed;
  const errorOf = (name: string) => errors[name] ?? '';
  const pairs = keys
    .map((key, index) => ({ key, value: values[index] ?? '' }))
    .filter(({ key, value }) => key !== '' || value !== '');
  const model = {
    id,
    path: tokenPath(id),
    typed,
    isConflict: status === 412,
    hasErrors: Object.keys(errors).some((name) => name !== 'form'),
    rows: Array.from({ length: pairs.length + emptyRows }, (_, index) => ({
      number: index + 1,
      ...(pairs[index] ?? { key: '', value: '' }),
    })),
    errors: {
      form: errorOf('form'),
      containers: errorOf('containers'),
      metadata: errorOf('metadata'),
      expires_at: errorOf('expires_at'),
    },
  };
  return visit.page('tokens/edit', model, { title: 'Edit a token', status });
}
