import type { SwaggerTransform } from '@fastify/swagger';
import type { FastifySchema } from 'fastify';
import { jsonSchemaTransform } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { commonProblems } from './common-problems.js';
import { pick, requestHeaders } from './headers.js';
import type { Operation } from './operation.js';
import { problemResponses } from './problem-responses.js';
import { answerResponses, mergeResponses, type Responses } from './responses.js';

export const securityScheme = 'apiKey';

const anyJson = z.unknown();

/**
 * A route for the document: the schemas that it serves with, and what its operation says. It runs once, when the
 * document is made; Fastify serves without any of it. A route without an operation is not in the document.
 */
export const describeRoute: SwaggerTransform = ({ schema, url, route, ...document }) => {
  const { operation, permission, mediaType } = route.config ?? {};
  if (operation === undefined) return { schema: { hide: true }, url };
  const problems = [...commonProblems({ permission, mediaType, url }, route.method), ...(operation.problems ?? [])];
  const responses = mergeResponses(answerResponses(operation.answers), problemResponses(problems));
  const inZod = {
    body: mediaType === undefined ? undefined : (schema?.body ?? operation.body ?? anyJson),
    querystring: schema?.querystring ?? operation.query,
    response: withBody(responses),
  };
  const { schema: inJson } = jsonSchemaTransform({ schema: inZod, url, route, ...document });
  const described = {
    ...{ operationId: operation.id, tags: [operation.tag], summary: operation.summary },
    description: descriptionOf(operation, permission),
    security: permission === undefined ? [] : [{ [securityScheme]: [] }],
    ...(mediaType === undefined ? {} : { consumes: [mediaType] }),
    ...(inJson.querystring === undefined ? {} : { querystring: inJson.querystring }),
    ...(inJson.body === undefined ? {} : { body: withExample(inJson.body, operation) }),
    ...pathParameters(url, operation),
    headers: {
      type: 'object',
      properties: pick(requestHeaders, [...(operation.requestHeaders ?? []), 'SERVICE-TRACE-ID']),
    },
    response: withJsonSchemas(responses, inJson.response),
  };
  return { schema: described, url };
};

type Needed = string | readonly string[] | undefined;

function descriptionOf({ description = '' }: Operation, permission: Needed): string {
  return description === '' ? neededText(permission) : `${description}\n\n${neededText(permission)}`;
}

function neededText(permission: Needed): string {
  if (permission === undefined) return 'Needs no key.';
  if (permission === 'any_key') return 'Needs any key.';
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

/** The library keeps only schemas of a response; examples and headers come back here. */
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
