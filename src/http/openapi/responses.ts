import type { z } from 'zod';
import { type HeaderDocs, pick, responseHeaders } from './headers.js';
import type { AnswerDoc } from './operation.js';

type Media = {
  readonly schema: z.ZodType;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
};

/** Everything that may come back under one status. */
type Response = {
  readonly description: string;
  readonly headers: HeaderDocs;
  readonly content?: Readonly<Record<string, Media>>;
};
export type Responses = Readonly<Record<string, Response>>;

export function answerResponses(answers: Readonly<Record<number, AnswerDoc>>): Responses {
  return Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, answerResponse(answer)]));
}

function answerResponse({ description, headers = [], schema, mediaType, example }: AnswerDoc): Response {
  const documented = { description, headers: pick(responseHeaders, ['SERVICE-TRACE-ID', ...headers]) };
  if (schema === undefined) return documented;
  const media = { schema, ...(example === undefined ? {} : { example }) };
  return { ...documented, content: { [mediaType ?? 'application/json']: media } };
}

/** Both, also where they share a status. */
export function mergeResponses(some: Responses, others: Responses): Responses {
  const merged = new Map(Object.entries(some));
  for (const [status, other] of Object.entries(others)) {
    const own = merged.get(status);
    const both = own === undefined ? other : mergeOne(own, other);
    merged.set(status, both);
  }
  return Object.fromEntries(merged);
}

function mergeOne(own: Response, other: Response): Response {
  return {
    description: `${own.description} ${other.description}`,
    headers: { ...own.headers, ...other.headers },
    content: { ...own.content, ...other.content },
  };
}
