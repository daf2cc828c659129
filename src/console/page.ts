import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { Caller } from '../domain/access/caller.js';
import type { Permission } from '../domain/access/permission.js';
import type { FieldErrors } from '../domain/field-errors.js';
import type { Service } from '../http/service.js';
import type { ReadContext } from '../queries/release.js';
import type { Vault } from '../vault/vault.js';
import type { Bundles } from './bundles.js';
import type { IdentityProvider } from './identity-provider.js';
import type { Operations } from './operations.js';
import type { SignedIn } from './sessions.js';
import type { Tasks } from './tasks.js';

/**
 * What opens a page: the key of a private or a management application, or the one-time code of an operator. `any`: any
 * of them. `none`: the page is open to everyone. A list: the first of them that the session has and that holds the
 * permission.
 */
export type Needs = 'private' | 'management' | 'operator' | 'any' | 'none' | readonly ('private' | 'management')[];

export type MenuGroup = 'Vault' | 'Access' | 'Evidence' | 'Operations';

/**
 * One page of the console with its actions. One file of `pages` exports one; `pages.ts` lists them in the order of the
 * navigation.
 */
export type ConsolePage = {
  /** Where the navigation shows the page. It shows it only to sessions that open the first route. */
  readonly menu?: { readonly label: string; readonly group: MenuGroup };
  readonly routes: readonly [ConsoleRoute, ...ConsoleRoute[]];
};

export type ConsoleRoute = {
  /** A form posts; the CSRF token of each post is checked. */
  readonly method: 'GET' | 'POST';
  /** The path, with parameters as in `/tokens/:id`. */
  readonly path: string;
  readonly session: Needs;
  /**
   * The permission that the caller must hold on at least one container, or several of which one suffices. With
   * `application:read`, `tenant:read`, `report:read` or `webhook:read`, a page with status 200 is recorded as a read.
   */
  readonly permission?: Permission | readonly Permission[];
  handle(visit: Visit): Promise<FastifyReply>;
};

/** A message that the next page shows once. Its text is ours, and contains no data. */
export type Flash = { readonly tone: 'good' | 'bad' | 'note'; readonly text: string };

/** The fields of a template, besides those of the layout. */
export type Model = Readonly<Record<string, unknown>>;

export type PageOptions = {
  /** The title of the page, which is also its heading. Text of ours, or what the page shows anyway. */
  readonly title: string;
  /** Default: 200. */
  readonly status?: number;
  /** Shown at the top of the page. */
  readonly flash?: Flash;
};

/** The result of reading a form or a query string. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly errors: FieldErrors };

/** One request for a page, and everything that its handler needs. */
export type Visit = {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly service: Service;
  readonly vault: Vault;
  /** What only an operator may do. A page with the session `operator` uses it. */
  readonly operations: Operations;
  /** Work that takes longer than a request. */
  readonly tasks: Tasks;
  /** The bundles of evidence of the sessions. */
  readonly bundles: Bundles;
  /** The identity provider with which people sign in; null if the settings name none. */
  readonly identity: IdentityProvider | null;
  /** The person who is signed in. Throws if the page needs no session. */
  readonly session: SignedIn;
  /** The caller of a page with a permission, with the person's name for the access log. */
  readonly caller: Caller;
  /** What every query and command takes: `caller`, the trace id and the time of arrival. */
  readonly context: ReadContext;
  /** The same for one of the session's applications, also beside `context`; null if the session has none of this kind. */
  contextAs(kind: 'private' | 'management'): ReadContext | null;
  /** A parameter of the path. */
  param(name: string): string;
  /** Reads the query string. Throws a 400 if it is not valid. */
  query<T>(schema: z.ZodType<T>): T;
  /** Reads the form that was posted. Returns the errors by field, for the page to show beside the fields. */
  form<T>(schema: z.ZodType<T>): Parsed<T>;
  /**
   * Renders `views/pages/<view>.liquid` in the layout. Resolves once everything that was read is known to be current.
   */
  page(view: string, model: Model, options: PageOptions): Promise<FastifyReply>;
  /** Sends JSON to a script of ours. */
  json(body: Model): Promise<FastifyReply>;
  /** Sends the browser to another page of the console (303), which shows the message. */
  redirect(path: string, flash?: Flash): FastifyReply;
};
