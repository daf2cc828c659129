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
 * The kind of session that a page requires: access to a private or a management application, or the rights of an
 * operator. `any` accepts any session. `none` opens the page to everyone. If this is a list, the page uses the first of
 * these applications that the session has and that has the permission.
 */
export type Needs = 'private' | 'management' | 'operator' | 'any' | 'none' | readonly ('private' | 'management')[];

export type MenuGroup = 'Vault' | 'Access' | 'Audit' | 'Operations';

/**
 * A console page with its actions. The files in `pages` export pages, and `pages.ts` lists all pages in navigation
 * order.
 */
export type ConsolePage = {
  /**
   * The page's place in the navigation. The navigation shows the page only to sessions that may open the page's first
   * route.
   */
  readonly menu?: {
    readonly label: string;
    readonly group: MenuGroup;
    /** The path of a page that is outside this page's path but belongs to it in the navigation. */
    readonly also?: string;
  };
  readonly routes: readonly [ConsoleRoute, ...ConsoleRoute[]];
};

export type ConsoleRoute = {
  /** The method of the route. Forms use POST. Every POST needs a valid CSRF token. */
  readonly method: 'GET' | 'POST';
  /** The path, with parameters such as `:id` in `/tokens/:id`. */
  readonly path: string;
  readonly session: Needs;
  /**
   * The permission that the caller must have on at least one container. If this is a list, any one of the permissions
   * is enough. If the permission is `application:read`, `tenant:read`, `report:read` or `webhook:read`, a response with
   * status 200 is recorded as a read.
   */
  readonly permission?: Permission | readonly Permission[];
  handle(visit: Visit): Promise<FastifyReply>;
};

/** A message that the next page shows once. Its text is fixed and contains no data. */
export type Flash = { readonly tone: 'good' | 'bad' | 'note'; readonly text: string };

/** The fields for a template, in addition to the fields of the layout. */
export type Model = Readonly<Record<string, unknown>>;

export type PageOptions = {
  /** The title and heading of the page. It is fixed text or a value that the page shows anyway. */
  readonly title: string;
  /** The status of the response. The default is 200. */
  readonly status?: number;
  /** A message to show at the top of the page. */
  readonly flash?: Flash;
  /** Work is running, so the browser loads the page again every two seconds. */
  readonly isRunning?: boolean;
};

/** The result of parsing a form or a query string. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly errors: FieldErrors };

/** A request for a page, with everything that the page's handler needs. */
export type Visit = {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly service: Service;
  readonly vault: Vault;
  /** The operations of the command line. */
  readonly operations: Operations;
  /** The background tasks of the console, for work that takes too long for a request. */
  readonly tasks: Tasks;
  /** The evidence bundles that sessions have requested. */
  readonly bundles: Bundles;
  /** The identity provider for sign-ins. Null if the settings do not name one. */
  readonly identity: IdentityProvider | null;
  /** The signed-in person. Throws if the page needs no session. */
  readonly session: SignedIn;
  /** The caller on a page that requires an application. It contains the person's name for the access log. */
  readonly caller: Caller;
  /** The context that queries and commands take: `caller`, the trace id and the time at which the request arrived. */
  readonly context: ReadContext;
  /**
   * Returns the context for the session's application of this kind. Returns null if the session has no such
   * application.
   */
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
  /** Redirects the browser to another console page (303). That page shows the message `flash`. */
  redirect(path: string, flash?: Flash): FastifyReply;
};
