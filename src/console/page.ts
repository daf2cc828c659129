import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { ManagementEntity } from '../audit/access-log/record-management-read.js';
import type { Caller } from '../domain/access/caller.js';
import type { Permission } from '../domain/access/permission.js';
import type { Checked } from '../domain/field-errors.js';
import type { Service } from '../http/service.js';
import type { ReadContext } from '../queries/release.js';
import type { Vault } from '../vault/vault.js';
import type { Bundles } from './bundles.js';
import type { IdentityProvider } from './identity-provider.js';
import type { Operations } from './operations.js';
import type { SignedIn } from './sessions.js';
import type { Tasks } from './tasks.js';

/**
 * The kind of session that a page requires: access to a private or a management application, or operator rights. `any`
 * accepts any session, and `none` requires no session. If this is a list, the page uses the first kind for which the
 * session has an application with the permission.
 */
export type Needs = 'private' | 'management' | 'operator' | 'any' | 'none' | readonly ('private' | 'management')[];

export type MenuGroup = 'Vault' | 'Access' | 'Audit' | 'Operations';

/**
 * A console page with its actions. Each file in `pages` exports a page, and `pages.ts` lists all pages in navigation
 * order.
 */
export type ConsolePage = {
  /**
   * The page's place in the navigation. The navigation shows the page only to sessions that may access its first route.
   */
  readonly menu?: {
    readonly label: string;
    readonly group: MenuGroup;
    /**
     * The path of an additional page. The path is outside this page's path, but the navigation treats the additional
     * page as part of this page.
     */
    readonly also?: string;
  };
  readonly routes: readonly [ConsoleRoute, ...ConsoleRoute[]];
};

export type ConsoleRoute = {
  /** The method of the route. Forms use POST. Every POST requires a valid CSRF token. */
  readonly method: 'GET' | 'POST';
  /** The path, with parameters such as `:id` in `/tokens/:id`. */
  readonly path: string;
  readonly session: Needs;
  /**
   * The permission that the caller must have on at least one container. If this is a list, any one of the permissions
   * is enough.
   */
  readonly permission?: Permission | readonly [Permission, ...Permission[]];
  /** The kind of management data that the page shows (see `shows` in `http/request-state.ts`). */
  readonly shows?: ManagementEntity | null;
  /** True if the response is a file that the browser stores, so it is not a page that the browser can show again. */
  readonly isFile?: true;
  handle(visit: Visit): Promise<FastifyReply>;
};

/** A message that the next page shows once. Its text comes only from our own code and contains no data. */
export type Flash = { readonly tone: 'good' | 'bad' | 'note'; readonly text: string };

/** The fields for a template. The layout adds its own fields. */
export type Model = Readonly<Record<string, unknown>>;

export type PageOptions = {
  /** The page's title, which is also its heading. It is either fixed text or a value that the page shows anyway. */
  readonly title: string;
  /** The status of the response. The default is 200. */
  readonly status?: number;
  /** A message to show at the top of the page. */
  readonly flash?: Flash;
  /** True while work is running. Meanwhile, the browser reloads the page every two seconds. */
  readonly isRunning?: boolean;
};

/** A request for a page, with everything that the page's handler needs. */
export type Visit = {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly service: Service;
  readonly vault: Vault;
  /** The CLI operations. */
  readonly operations: Operations;
  /** The background tasks of the console, for work that takes longer than a request may take. */
  readonly tasks: Tasks;
  /** The evidence bundles requested by sessions. */
  readonly bundles: Bundles;
  /** The identity provider for sign-ins, or null if none is configured. */
  readonly identity: IdentityProvider | null;
  /** The signed-in person. On a page that requires no session, accessing this property throws an error. */
  readonly session: SignedIn;
  /** The caller on a page that requires an application. It includes the person's name for the access log. */
  readonly caller: Caller;
  /** The context that queries and commands need: `caller`, the trace id, and the arrival time of the request. */
  readonly context: ReadContext;
  /**
   * Returns the context for the session's application of this kind. Returns null if the session has no such
   * application, or if the application has the permission on no container.
   */
  contextAs(kind: 'private' | 'management', permission?: Permission): ReadContext | null;
  /** Returns a path parameter. */
  param(name: string): string;
  /** Parses the query string. Throws Problem 400 if the query string is invalid. */
  query<T>(schema: z.ZodType<T>): T;
  /**
   * The fields of the posted form, or of the form in the address (`sealed-form.ts`). If this session cannot open the
   * form in the address, there are no fields, and the page says so.
   */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Parses `fields`. Returns errors by field, so that the page can show each error next to its field. */
  form<T>(schema: z.ZodType<T>): Checked<T>;
  /**
   * Renders `templates/pages/<view>.liquid` in the layout. Resolves after the vault has confirmed that all data on the
   * page was current.
   */
  page(view: string, model: Model, options: PageOptions): Promise<FastifyReply>;
  /**
   * Sends a file for download, after the vault has confirmed that everything that was read so far was current. `name`
   * must not contain text from a request. `open` opens the stream of a file that is not in memory.
   */
  file(name: string, type: string, open: string | (() => NodeJS.ReadableStream)): Promise<FastifyReply>;
  /** Sends JSON to the console's script. */
  json(body: Model): Promise<FastifyReply>;
  /** Redirects the browser (303) to another console page. That page shows `flash`. */
  redirect(path: string, flash?: Flash): FastifyReply;
  /**
   * Redirects the browser (303) to an address of the same page that contains the posted form in encrypted form. The
   * back button and a reload then show the result again, without sending the form again. Returns null if the form is
   * too long for an address. The handler must then respond with the result itself.
   */
  redirectToResult(): FastifyReply | null;
};
