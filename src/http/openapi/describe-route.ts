import type { SwaggerTransform } from '@fastify/swagger';
import type { FastifySchema } from 'fastify';
import { jsonSchemaTransform } from 'fastify-type-provider-zod';
import type { OpenAPIV3_1 } from 'openapi-types';
import { z } from 'zod';
import { isHealthRoute } from '../load/require-tls-proxy.js';
import { problemBody } from '../problem/problem.js';
import { type ProblemCode, problemCatalogue } from '../problem/problem-catalogue.js';
import { type HeaderDocs, pick, type ResponseHeader, requestHeaders, responseHeaders } from './headers.js';
import type { AnswerDoc, Operation } from './operation.js';

/** The body of every error response (RFC 9457; docs/contract.md, "Errors"). */
const problemDocument = z
  .object({
    type: z.string().meta({ description: 'The path of a page on this service that explains this kind of problem.' }),
    title: z.string().meta({ description: 'A short human-readable title, the same for every problem of this kind.' }),
    status: z.number().meta({ type: 'integer', description: 'The HTTP status.' }),
    detail: z.string().meta({ description: 'A human-readable explanation of what happened and what to do.' }),
    instance: z.string().meta({ description: 'The trace id of the request, as `urn:trace:<id>`.' }),
    code: z.string().meta({ description: 'A stable, machine-readable code for the kind of problem.' }),
    errors: z.record(z.string(), z.array(z.string())).optional().meta({
      description:
        'Messages for each invalid field, keyed by the JSON path of the field. Absent from other kinds of problems.',
    }),
  })
  .meta({ id: 'Problem', description: 'Why a request failed (RFC 9457). It never contains a value from the request.' });

/** The ways to send the API key, keyed by their names in the OpenAPI document. */
export const securitySchemes = {
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'SERVICE-API-KEY',
    description: 'The API key of the calling application.',
  },
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'The API key of the calling application, as `Authorization: Bearer <key>`.',
  },
} as const satisfies Readonly<Record<string, OpenAPIV3_1.SecuritySchemeObject>>;

export type SecurityScheme = keyof typeof securitySchemes;

const anyJson = z.unknown();

/**
 * Returns a function that describes a route for the OpenAPI document. The description is based on the route's operation
 * and on the schemas that validate its requests. The function runs once per route, when the document is generated. The
 * document omits routes without an operation.
 */
export function routeDescriber(schemes: readonly SecurityScheme[]): SwaggerTransform {
  return (route) => describeRoute(route, schemes);
}

function describeRoute(
  { schema, url, route, ...document }: Parameters<SwaggerTransform>[0],
  schemes: readonly SecurityScheme[],
): ReturnType<SwaggerTransform> {
  const { operation, permission, mediaType } = route.config ?? {};
  if (operation === undefined) return { schema: { hide: true }, url };
  const problems = [...commonProblems({ permission, mediaType, url }, route.method), ...(operation.problems ?? [])];
  const responses = mergeResponses(answerResponses(operation.answers), problemResponses(problems));
  const inZod = {
    body: mediaType === undefined ? undefined : (schema?.body ?? operation.body ?? anyJson),
    querystring: operation.query ?? schema?.querystring,
    response: withBody(responses),
  };
  const { schema: inJson } = jsonSchemaTransform({ schema: inZod, url, route, ...document });
  const described = {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: descriptionOf(operation, permission),
    security: permission === undefined ? [] : schemes.map((scheme) => ({ [scheme]: [] })),
    ...(mediaType === undefined ? {} : { consumes: [mediaType] }),
    ...(inJson.querystring === undefined ? {} : { querystring: inJson.querystring }),
    ...(inJson.body === undefined ? {} : { body: withExample(inJson.body, operation) }),
    ...pathParameters(url, operation),
    headers: {
      type: 'object',
      properties: pick(requestHeaders, [
        ...(operation.requestHeaders ?? []),
        'SERVICE-TRACE-ID',
        ...(permission === undefined ? [] : (['SERVICE-PERSON', 'SERVICE-REASON'] as const)),
      ]),
    },
    response: withJsonSchemas(responses, inJson.response),
  };
  return { schema: described, url };
}

type Needed = string | readonly string[] | undefined;

function descriptionOf({ description = '' }: Operation, permission: Needed): string {
  return description === '' ? neededText(permission) : `${description}\n\n${neededText(permission)}`;
}

function neededText(permission: Needed): string {
  if (permission === undefined) return 'Requires no key.';
  if (permission === 'any_key') return 'Requires a valid key but no permission.';
  const names = [permission].flat().map((name) => `\`${name}\``);
  return `Permission: ${names.join(' or ')}.`;
}

function withExample(body: unknown, { requestExample }: Operation): object {
  return { ...(body as object), ...(requestExample === undefined ? {} : { examples: [requestExample] }) };
}

function pathParameters(url: string, { pathParameters = {} }: Operation): Pick<FastifySchema, 'params'> {
  const names = [...url.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  if (names.length === 0) return {};
  const properties = names.map((name) => [name, { type: 'string', description: pathParameters[name] ?? '' }]);
  return { params: { type: 'object', properties: Object.fromEntries(properties) } };
}

function withBody(responses: Responses): Responses {
  return Object.fromEntries(Object.entries(responses).filter(([, { content }]) => content !== undefined));
}

/**
 * Adds examples and headers to the converted responses, because the library's conversion retains only their schemas.
 */
function withJsonSchemas(responses: Responses, inJson: unknown): object {
  const converted = inJson as Readonly<Record<string, { content: Readonly<Record<string, { schema: object }>> }>>;
  return Object.fromEntries(
    Object.entries(responses).map(([status, { content, ...response }]) => {
      if (content === undefined) return [status, { ...response, type: 'null' }];
      const media = Object.entries(content).map(([type, own]) => [
        type,
        { ...own, schema: converted[status]?.content[type]?.schema },
      ]);
      return [status, { ...response, content: Object.fromEntries(media) }];
    }),
  );
}

type Media = {
  readonly schema: z.ZodType;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
};

/** All responses of a route that have the same status. */
type Response = {
  readonly description: string;
  readonly headers: HeaderDocs;
  readonly content?: Readonly<Record<string, Media>>;
};
type Responses = Readonly<Record<string, Response>>;

function answerResponses(answers: Readonly<Record<number, AnswerDoc>>): Responses {
  return Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, answerResponse(answer)]));
}

function answerResponse({ description, headers = [], schema, mediaType, example }: AnswerDoc): Response {
  const documented = { description, headers: pick(responseHeaders, ['SERVICE-TRACE-ID', ...headers]) };
  if (schema === undefined) return documented;
  const media = { schema, ...(example === undefined ? {} : { example }) };
  return { ...documented, content: { [mediaType ?? 'application/json']: media } };
}

/** Merges two sets of responses. Two responses with the same status become one response. */
function mergeResponses(some: Responses, others: Responses): Responses {
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

const exampleTrace = '0b0a5a52-6a0f-4d55-8c0b-7a1f0c2d9e11';

/** Returns the responses for these problems, grouped by status. Each code has one example. */
function problemResponses(codes: readonly ProblemCode[]): Responses {
  const known = [...new Set(codes)];
  const statuses = [...new Set(known.map((code) => problemCatalogue[code].status))];
  return Object.fromEntries(
    statuses.map((status) => {
      const ofStatus = known.filter((code) => problemCatalogue[code].status === status);
      const headers: ResponseHeader[] = ['SERVICE-TRACE-ID'];
      if (status === 401) headers.push('WWW-Authenticate');
      if (status === 429 || status === 503) headers.push('Retry-After');
      const description = ofStatus.map((code) => `\`${code}\`: ${problemCatalogue[code].title}.`).join(' ');
      const examples = Object.fromEntries(ofStatus.map((code) => [code, { value: exampleOf(code) }]));
      const content = { 'application/problem+json': { schema: problemDocument, examples } };
      return [status, { description, headers: pick(responseHeaders, headers), content }];
    }),
  );
}

function exampleOf(code: ProblemCode): unknown {
  const errors = code === 'validation_failed' ? { 'data.number': ['is not a valid card number'] } : undefined;
  return JSON.parse(problemBody({ code, errors }, exampleTrace));
}

/**
 * Returns the problems that every route can return, and the problems that depend on the route: whether it requires a
 * key, whether it reads a body, and whether its method allows a body.
 */
function commonProblems(
  { permission, mediaType, url }: { readonly permission: unknown; readonly mediaType: unknown; readonly url: string },
  method: string | readonly string[],
): readonly ProblemCode[] {
  const always = ['malformed_request', 'internal', 'store_unavailable', 'overloaded'] as const;
  const overTls = isHealthRoute(url) ? [] : (['tls_required'] as const);
  const withoutKey = ['too_many_without_key'] as const;
  const withKey = [
    'rate_limited',
    'too_many_bad_keys',
    'unauthenticated',
    'validation_failed',
    'key_lost',
    'row_forged',
  ] as const;
  const withPermission = permission === undefined || permission === 'any_key' ? [] : (['permission_missing'] as const);
  const withBody = ['malformed_body', 'unsupported_media_type'] as const;
  return [
    ...always,
    ...overTls,
    ...(permission === undefined ? withoutKey : withKey),
    ...withPermission,
    ...(mediaType === undefined ? [] : withBody),
    ...(method === 'GET' ? [] : (['body_too_large'] as const)),
  ];
}
