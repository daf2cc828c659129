import type { z } from 'zod';
import type { Json } from '../../domain/json.js';
import type { ProblemCode } from '../problem/problem-catalogue.js';
import type { RequestHeader, ResponseHeader } from './headers.js';

/** The groups of operations with their descriptions, in document order. */
export const tagDescriptions = {
  Tokens: 'Create, read, change and delete tokens.',
  Search: 'Find tokens by their metadata, containers, types, times and indexed values.',
  Tokenization: 'Replace values with tokens, and tokens with values, in any JSON.',
  Applications: 'Manage the tenant’s applications, their API keys and what they may do.',
  Tenants: 'Read and change the tenant of the caller.',
  Webhooks: 'Receive events about tokens, applications and keys as signed requests to your own URL.',
  Logs: 'Read who did what, and the signed checkpoints of the event log.',
  Service: 'Health, this document and its pages. These operations require no key.',
} as const;

type Tag = keyof typeof tagDescriptions;

/**
 * The documentation of a route in addition to its schemas: descriptions, responses and problems. It does not affect
 * requests.
 */
export type Operation = {
  /** A unique name. Generated clients use it as the name of the operation's function. */
  readonly id: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  readonly pathParameters?: Readonly<Record<string, string>>;
  /** Documents the route's query parameters if the route's own schema cannot describe them. */
  readonly query?: z.ZodType;
  /**
   * Documents a body that the route parses itself. If the route has a body schema, that schema documents the body
   * instead. If the route has neither, the document allows any JSON.
   */
  readonly body?: z.ZodType;
  readonly requestHeaders?: readonly RequestHeader[];
  readonly requestExample?: Json;
  readonly answers: Readonly<Record<number, AnswerDoc>>;
  /** The problems that the route can return in addition to the problems in `commonProblems`. */
  readonly problems?: readonly ProblemCode[];
};

export type AnswerDoc = {
  readonly description: string;
  readonly headers?: readonly ResponseHeader[];
  /**
   * The schema of the body. Without a schema, the response has no body. The media type is JSON if `mediaType` is not
   * set.
   */
  readonly schema?: z.ZodType;
  readonly mediaType?: string;
  readonly example?: Json;
};

/** Returns its argument. The call lets the compiler check the type of an operation where the operation is defined. */
export function documented(operation: Operation): Operation {
  return operation;
}
