import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { grantsAnywhere } from '../domain/access/decide-access.js';
import type { Checked } from '../domain/field-errors.js';
import { issueErrors } from '../domain/json-path.js';
import { Problem } from '../http/problem/problem.js';
import { callerOf } from '../http/request-state.js';
import { recordRefusedRequest } from '../http/server/record-refused-request.js';
import type { Service } from '../http/service.js';
import { cookieNames, cookieOptions } from './cookies.js';
import type { Layout } from './layout.js';
import type { Flash, Visit } from './page.js';
import { ConsoleProblem } from './problem.js';
import { addressOf, type FormFields, formIn } from './sealed-form.js';
import { callerOfPerson } from './sessions.js';

const flashSeconds = 60;

const unreadableAddress = {
  tone: 'note',
  text:
    'This address belongs to another session, or is incomplete. The list below is therefore not filtered. Enter what ' +
    'you are looking for again.',
} as const satisfies Flash;

/** Creates the object that a page's handler receives for one request. */
export function createVisit(
  request: FastifyRequest,
  reply: FastifyReply,
  service: Service,
  { operations, tasks, bundles, identity }: Pick<Visit, 'operations' | 'tasks' | 'bundles' | 'identity'>,
  layout: Layout,
): Visit {
  const { vault } = service;
  const { traceId, beganAt, signedIn } = request;
  const place = signedIn === null ? null : { path: request.routeOptions.url ?? '', sessionId: signedIn.id };

  let isUnreadable = false;

  function fieldsOf(): Readonly<Record<string, unknown>> {
    if (request.method !== 'GET') return (request.body ?? {}) as Readonly<Record<string, unknown>>;
    const { form } = request.query as { readonly form?: unknown };
    if (form === undefined) return {};
    const fields = typeof form === 'string' && place !== null ? formIn(vault, place, form) : null;
    isUnreadable = fields === null;
    return fields ?? {};
  }

  function redirect(path: string, flash?: Flash): FastifyReply {
    if (flash !== undefined) leaveFlash(reply, flash);
    return reply.header('cache-control', 'no-store').redirect(path, 303);
  }

  return {
    request,
    reply,
    service,
    vault,
    operations,
    tasks,
    bundles,
    identity,
    get session() {
      if (signedIn === null) throw new ConsoleProblem('session_ended');
      return signedIn;
    },
    get caller() {
      return callerOf(request);
    },
    get context() {
      return { caller: callerOf(request), traceId, beganAt };
    },
    contextAs(kind, permission) {
      const caller = signedIn?.[kind] ?? null;
      if (signedIn === null || caller === null) return null;
      if (permission !== undefined && !grantsAnywhere(caller, permission)) return null;
      return { caller: callerOfPerson(request, caller, signedIn), traceId, beganAt };
    },
    param(name) {
      return (request.params as Readonly<Record<string, string>>)[name] ?? '';
    },
    query(schema) {
      const parsed = read(schema, request.query);
      if (!parsed.ok) throw new Problem('validation_failed', { errors: parsed.errors });
      return parsed.value;
    },
    get fields() {
      return fieldsOf();
    },
    form: (schema) => read(schema, fieldsOf()),
    async page(view, model, options) {
      const flash = options.flash ?? (isUnreadable ? unreadableAddress : takeFlash(request, reply));
      const text = await layout(request, reply, `pages/${view}`, model, { ...options, flash });
      // Threat: a person continues to use a session that has been closed. A store server that has lost its leadership
      // may return outdated data, such as a session that has been closed since.
      await vault.confirmReads(beganAt);
      const { status = 200 } = options;
      // When a page shows a rejected form again, no problem is thrown, so the error handler cannot record the
      // rejection. It is recorded here instead.
      recordRefusedRequest(vault, request, status);
      return sendHtml(reply.code(status), text);
    },
    async file(name, type, open) {
      await vault.confirmReads(beganAt);
      return reply
        .header('cache-control', 'no-store')
        .header('content-disposition', `attachment; filename="${name}"`)
        .type(type)
        .send(typeof open === 'string' ? open : open());
    },
    async json(body) {
      await vault.confirmReads(beganAt);
      return reply
        .header('cache-control', 'no-store')
        .type('application/json; charset=utf-8')
        .send(JSON.stringify(body));
    },
    redirect,
    redirectToResult() {
      const address = place === null ? null : addressOf(vault, place, typedFields(fieldsOf()));
      return address === null ? null : redirect(address);
    },
  };
}

/** Sends a page with headers that prevent caches from storing it. */
export function sendHtml(reply: FastifyReply, text: string): FastifyReply {
  return reply.header('cache-control', 'no-store').type('text/html; charset=utf-8').send(text);
}

/** Leaves a message for the next page. */
export function leaveFlash(reply: FastifyReply, { tone, text }: Flash): void {
  reply.setCookie(cookieNames.flash, `${tone}:${text}`, { ...cookieOptions, maxAge: flashSeconds });
}

/** Returns the message left for this page by the previous request, and removes it, so that it is shown only once. */
function takeFlash(request: FastifyRequest, reply: FastifyReply): Flash | null {
  const [, tone, text] = /^(good|bad|note):(.{1,500})$/s.exec(request.cookies[cookieNames.flash] ?? '') ?? [];
  if (tone === undefined || text === undefined) return null;
  reply.clearCookie(cookieNames.flash, cookieOptions);
  return { tone: tone as Flash['tone'], text };
}

/** Returns the text fields of a form, without its CSRF token. */
function typedFields(fields: Readonly<Record<string, unknown>>): FormFields {
  const typed: Record<string, string> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (name !== '_csrf' && typeof value === 'string') typed[name] = value;
  }
  return typed;
}

function read<T>(schema: z.ZodType<T>, given: unknown): Checked<T> {
  const parsed = schema.safeParse(given);
  return parsed.success
    ? { ok: true, value: parsed.data }
    : { ok: false, errors: issueErrors(parsed.error.issues, '') };
}
