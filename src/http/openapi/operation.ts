import type { z } from 'zod';
import type { Json } from '../../domain/json.js';
import type { ProblemCode } from '../problem/problem-catalogue.js';
import type { RequestHeader, ResponseHeader } from './headers.js';

/** What a route says of itself beside its schemas: words, answers and problems. It has no part in serving. */
export type Operation = {
  /** Unique in the document; what generated clients call the operation. */
  readonly id: string;
  readonly tag: 'Tokens' | 'Search' | 'Tokenization' | 'Applications' | 'Tenants' | 'Logs' | 'Service';
  readonly summary: string;
  readonly description?: string;
  readonly pathParameters?: Readonly<Record<string, string>>;
  /** Documents query parameters that the route reads by itself; one in the route's schema needs none here. */
  readonly query?: z.ZodType;
  /** Documents a body that the route reads by itself; one in the route's schema needs none here. Else: any JSON. */
  readonly body?: z.ZodType;
  readonly requestHeaders?: readonly RequestHeader[];
  readonly requestExample?: Json;
  readonly answers: Readonly<Record<number, AnswerDoc>>;
  /** What it may answer beyond the problems of every route of its kind (`commonProblems`). */
  readonly problems?: readonly ProblemCode[];
};

export type AnswerDoc = {
  readonly description: string;
  readonly headers?: readonly ResponseHeader[];
  /** JSON unless `mediaType` says otherwise; absent: no body. */
  readonly schema?: z.ZodType;
  readonly mediaType?: string;
  readonly example?: Json;
};

/** The operation of a route, typed where it is written. */
export function documented(operation: Operation): Operation {
  return operation;
}
