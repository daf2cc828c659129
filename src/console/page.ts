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
 * What a page requires: the key of a private or management application, or an operator's one-time code. `any` accepts
 * any of these. `none` opens the page to everyone. With a list, the page uses the first kind in the list that the
 * session has and that holds the permission.
 */
export type Needs = 'private' | 'management' | 'operator' | 'any' | 'none' | readonly ('private' | 'management')[];

export type MenuGroup = 'Vault' | 'Access' | 'Audit' | 'Operations';

/**
 * One console page with its actions. Each file in `pages` exports one page; `pages.ts` lists them in navigation order.
 */
export type ConsolePage = {
  /** The page's place in the navigation, which shows it only to sessions that may open its first route. */
  readonly menu?: {
    readonly label: string;
    readonly group: MenuGroup;
    /** The path of a page that is outside this page's path but belongs to it in the navigation. */
    readonly also?: string;
  };
  readonly routes: readonly [ConsoleRoute, ...ConsoleRoute[]];
};

export type ConsoleRoute = {
  /** Forms use POST. Every POST needs a valid CSRF token. */
  readonly method: 'GET' | 'POST';
  /** The path, with parameters such as `:id` in `/tokens/:id`. */
  readonly path: string;
  readonly session: Needs;
  /**
   * The permission that the caller must hold on at least one container, or a list of which any one suffices. With
   * `application:read`, `tenant:read`, `report:read` or `webhook:read`, a response with status 200 is recorded as a
   * read.
   */
  readonly permission?: Permission | readonly Permission[];
  handle(visit: Visit): Promise<FastifyReply>;
};

/** A message that the next page shows once. Its text is fixed and contains no data. */
export type Flash = { readonly tone: 'good' | 'bad' | 'note'; readonly text: string };

/** The template's fields, in addition to the layout's. */
export type Model = Readonly<Record<string, unknown>>;

export type PageOptions = {
  /** The page's title and heading: fixed text, or a value that the page shows anyway. */
  readonly title: string;
  /** Default: 200. */
  readonly status?: number;
  /** Shown at the top of the page. */
  readonly flash?: Flash;
  /** Work is running, so the browser loads the page again every two seconds. */
  readonly isRunning?: boolean;
};

/** The result of parsing a form or a query string. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly errors: FieldErrors };

/** One request for a page, and everything that its handler needs. */
export type Visit = {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly service: Service;
  readonly vault: Vault;
  /** Operations for operators only. Pages with the session `operator` use them. */
  readonly operations: Operations;
  /** Work that takes longer than a request. */
  readonly tasks: Tasks;
  /** The evidence bundles of the sessions. */
  readonly bundles: Bundles;
  /** The identity provider for sign-ins, or null if the settings name none. */
  readonly identity: IdentityProvider | null;
  /** The signed-in person. Throws if the page needs no session. */
  readonly session: SignedIn;
  /** The caller on a page that requires a permission, with the person's name for the access log. */
  readonly caller: Caller;
  /** The context that every query and command takes: `caller`, the trace id and the time of arrival. */
  readonly context: ReadContext;
  /** Returns the same context for the session's application of this kind, or null if it has none. */
  contextAs(kind: 'private' | 'management'): ReadContext | null;
  /** Returns a path parameter. */
  param(name: string): string;
  /** Parses the query string. Throws Problem 400 if it is invalid. */
  query<T>(schema: z.ZodType<T>): T;
  /** Parses the posted form. Returns errors by field, so that the page can show them beside the fields. */
  form<T>(schema: z.ZodType<T>): Parsed<T>;
  /**
   * Renders `views/pages/<view>.liquid` in the layout. Resolves once all data that was read is known to be current.
   */
  page(view: string, model: Model, options: PageOptions): Promise<FastifyReply>;
  /** Sends JSON to the console's script. */
  json(body: Model): Promise<FastifyReply>;
  /** Redirects the browser to another console page (303), which shows the message. */
  redirect(path: string, flash?: Flash): FastifyReply;
};
