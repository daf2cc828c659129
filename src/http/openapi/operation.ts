import type { z } from 'zod';
import type { Json } from '../../domain/json.js';
import type { ProblemCode } from '../problem/problem-catalogue.js';
import type { RequestHeader, ResponseHeader } from './headers.js';

/** The documentation of a route besides its schemas: texts, responses and problems. It does not affect serving. */
export type Operation = {
  /** Unique in the document. Generated clients use it as the name of the operation. */
  readonly id: string;
  readonly tag: 'Tokens' | 'Search' | 'Tokenization' | 'Applications' | 'Tenants' | 'Logs' | 'Service';
  readonly summary: string;
  readonly description?: string;
  readonly pathParameters?: Readonly<Record<string, string>>;
  /**
   * Documents query parameters that the route parses itself. Parameters in the route's schema are documented from
   * there.
   */
  readonly query?: z.ZodType;
  /**
   * Documents a body that the route parses itself. A body in the route's schema is documented from there. Without
   * either, the document says any JSON.
   */
  readonly body?: z.ZodType;
  readonly requestHeaders?: readonly RequestHeader[];
  readonly requestExample?: Json;
  readonly answers: Readonly<Record<number, AnswerDoc>>;
  /** The problems that the route may return besides those of every route of its kind (`commonProblems`). */
  readonly problems?: readonly ProblemCode[];
};

export type AnswerDoc = {
  readonly description: string;
  readonly headers?: readonly ResponseHeader[];
  /** The media type is JSON unless `mediaType` is set. Without a schema, the response has no body. */
  readonly schema?: z.ZodType;
  readonly mediaType?: string;
  readonly example?: Json;
};

/** Returns its argument, so that an operation is type-checked where it is written. */
export function documented(operation: Operation): Operation {
  return operation;
}
