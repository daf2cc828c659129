import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { deleteToken } from '../../commands/tokens/delete-token.js';
import { purgeCvc } from '../../commands/tokens/purge-cvc.js';
import { grantsAnywhere, maySeeClear, readsEveryToken, transformFor } from '../../domain/access/decide-access.js';
import { parseVisitor } from '../../domain/access/visitor.js';
import type { JsonObject } from '../../domain/json.js';
import { entityTag } from '../../domain/token/entity-tag.js';
import { cvcAt } from '../../domain/token/token-state.js';
import { Problem, problemFrom } from '../../http/problem/problem.js';
import { latestNow } from '../../ports/clock.js';
import { maskedAnswer } from '../../queries/release.js';
import type { ConsolePage, Visit } from '../page.js';
import { resentFormRoute } from '../resent-form.js';
import { shownText } from '../shown-text.js';
import { findPlaintext, findToken, released, type Sheet, sheetOf, tokenPath } from '../token-sheet.js';

/** The page shows at most this many characters of an id. This is the length of the longest possible id. */
const idMax = 400;
/** How long a browser shows a plaintext value, in seconds. */
const revealedSeconds = 30;

/**
 * At most this many characters of a reason are read, which is far more than a reason may have. Threat: a client posts
 * megabytes of spaces, and replacing them stalls all callers.
 */
const reasonReadMax = 10_000;

const reveal = z.object({
  reason: z
    .string()
    .transform((text) => text.slice(0, reasonReadMax))
    .default(''),
  as: z.enum(['page', 'file']).default('page'),
});
const purge = z.object({ sure: z.literal('on') });
const deletion = z.object({
  confirm: z.string().default(''),
  revision: z.string().regex(/^\d{1,15}$/, { error: 'must be a revision' }),
});

/** Shows a token and the available actions. The token is masked at first. */
export const tokenPage: ConsolePage = {
  routes: [
    {
      method: 'GET',
      path: '/tokens/:id',
      session: 'private',
      permission: 'token:read',
      handle: showLiving,
    },
    resentFormRoute({ path: '/tokens/:id', session: 'private', permission: 'token:read' }),
    {
      method: 'GET',
      path: '/tokens/:id/file',
      isFile: true,
      session: 'private',
      permission: 'token:read',
      async handle(visit) {
        const token = await released(visit, maskedAnswer(await findToken(visit, visit.param('id'))));
        return sendToken(visit, 'token-masked.json', token);
      },
    },
    {
      method: 'POST',
      path: '/tokens/:id/reveal',
      session: 'private',
      permission: 'token:read',
      handle: revealToken,
    },
    {
      method: 'POST',
      path: '/tokens/:id/purge-cvc',
      session: 'private',
      permission: 'token:update',
      async handle(visit) {
        const id = visit.param('id');
        const asked = visit.form(purge);
        if (!asked.ok) {
          const error = 'Check this box to confirm. The code was not purged.';
          return showMasked(visit, { ...noErrors, purge: error }, '', 400);
        }
        const purged = await purgeCvc(visit.vault, visit.context, id, null);
        if (!purged.ok) throw problemFrom(purged);
        return visit.redirect(tokenPath(id), { tone: 'good', text: 'The verification code is purged.' });
      },
    },
    {
      method: 'POST',
      path: '/tokens/:id/delete',
      session: 'private',
      permission: 'token:delete',
      handle: deleteConfirmed,
    },
  ],
};

type Errors = { readonly reason: string | null; readonly confirm: string | null; readonly purge: string | null };

const noErrors: Errors = { reason: null, confirm: null, purge: null };

/**
 * Shows the token. A token that does not exist may have been deleted, so a session that may read the history of a
 * deleted token gets a link to that history.
 */
async function showLiving(visit: Visit): Promise<FastifyReply> {
  try {
    return await showMasked(visit);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'token_not_found' || !mayReadPast(visit)) throw error;
    const id = visit.param('id');
    return visit.page('tokens/gone', { id, path: tokenPath(id) }, { title: 'No such token', status: 404 });
  }
}

async function showMasked(visit: Visit, errors = noErrors, reason = '', status = 200): Promise<FastifyReply> {
  const answer = maskedAnswer(await findToken(visit, visit.param('id')));
  const token = sheetOf(await released(visit, answer));
  const offered = mayDo(visit, token);
  const may = { ...offered, purge: offered.purge && (await hasCode(visit, answer.stream)) };
  const model = { token, revision: answer.revision, may, isRevealed: false, errors, reason };
  return visit.page('tokens/show', { ...model, seconds: revealedSeconds }, { title: 'Token', status });
}

/** Returns true if a verification code is stored for the card. */
async function hasCode({ vault }: Visit, stream: string): Promise<boolean> {
  const life = (await vault.rows.get(stream))?.state.life ?? null;
  return life !== null && cvcAt(life, latestNow(vault.clock)) !== null;
}

/** Returns the actions that the page offers. The commands check the permissions again when they run. */
function mayDo({ caller }: Visit, { type, containers }: Sheet) {
  const may = (permission: 'token:update' | 'token:delete') => transformFor(caller, permission, containers) !== null;
  return {
    reveal: maySeeClear(caller, containers),
    edit: may('token:update'),
    purge: type === 'card' && may('token:update'),
    delete: may('token:delete'),
  };
}

/** Shows a token in plaintext for a short time. The access log records the reveal with the person and the reason. */
async function revealToken(visit: Visit): Promise<FastifyReply> {
  const asked = visit.form(reveal);
  const typed = asked.ok ? asked.value.reason : '';
  // The reason in the access log must not contain line breaks. A browser sends a pasted line break as two characters.
  const text = typed.replaceAll(/\s+/g, ' ').trim();
  const stated = parseVisitor({ person: { name: 'person', text: undefined }, reason: { name: 'reason', text } });
  if (!asked.ok || !stated.ok) {
    const [error = 'is required'] = stated.ok ? [] : (stated.errors['reason'] ?? []);
    return showMasked(visit, { ...noErrors, reason: text === '' ? 'Say why you need the value.' : error }, text, 400);
  }
  const { caller, context, session } = visit;
  const visitor = { name: session.name, issuer: session.issuer, reason: text };
  const answer = await findPlaintext(visit, visit.param('id'));
  const body = await released(visit, answer, { ...context, caller: { ...caller, visitor } });
  if (asked.value.as === 'file') return sendToken(visit, 'token-plaintext.json', body);
  const token = sheetOf(body);
  // When the time is up, this header makes the browser leave the page, even without a script.
  visit.reply.header('refresh', `${revealedSeconds}; url=${token.path}`);
  // The template shows no actions next to a plaintext value.
  const model = { token, isRevealed: true, seconds: revealedSeconds };
  return visit.page('tokens/show', model, { title: 'Token' });
}

/** Deletes the token if the person has typed its id. The id must be typed either exactly or as the page shows it. */
async function deleteConfirmed(visit: Visit): Promise<FastifyReply> {
  const { vault, context } = visit;
  const id = visit.param('id');
  const asked = visit.form(deletion);
  if (!asked.ok || ![id, shownText(id, idMax)].includes(asked.value.confirm)) {
    return showMasked(visit, { ...noErrors, confirm: 'This is not the id of the token.' }, '', 400);
  }
  const deleted = await deleteToken(vault, context, id, entityTag(Number(asked.value.revision)));
  if (!deleted.ok && deleted.code === 'precondition_failed') {
    const error = 'The token was changed since you opened the page. Check it, then confirm again.';
    return showMasked(visit, { ...noErrors, confirm: error }, '', 412);
  }
  if (!deleted.ok) throw problemFrom(deleted);
  const flash = { tone: 'good', text: 'The token is deleted, and its keys are destroyed.' } as const;
  return visit.redirect(mayReadPast(visit) ? `${tokenPath(id)}/erasure` : '/tokens', flash);
}

/**
 * Returns true if the session may read the history of a deleted token. The containers of a deleted token are erased, so
 * the required permission must cover the root container `/`.
 */
function mayReadPast({ caller, contextAs }: Visit): boolean {
  return readsEveryToken(caller) || grantsAnywhere(caller, 'log:read') || contextAs('management', 'log:read') !== null;
}

function sendToken(visit: Visit, name: string, token: JsonObject): Promise<FastifyReply> {
  return visit.file(name, 'application/json; charset=utf-8', `${JSON.stringify(token, null, 2)}\n`);
}
