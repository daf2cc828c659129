import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { FastifyInstance } from 'fastify';
import type { OpenAPIV3_1 } from 'openapi-types';
import { openApiDocument } from '#src/http/openapi/openapi.js';
import type { Answer } from './test-service.js';

type Media = Readonly<Record<string, OpenAPIV3_1.MediaTypeObject>>;

/**
 * Returns the parts of a response that the OpenAPI document does not describe. The list is empty if the document
 * describes the whole response.
 */
export type OpenApiChecker = (method: string, url: string, answer: Answer) => readonly string[];

type Path = {
  readonly path: string;
  readonly pattern: RegExp;
  readonly operations: Readonly<Record<string, OpenAPIV3_1.OperationObject | undefined>>;
};

/** The statuses that are allowed if the path of a request is unknown or does not support the request's method. */
const undescribed = [400, 404, 405];

export function openApiChecker(app: FastifyInstance): OpenApiChecker {
  const document = openApiDocument(app);
  const paths = Object.entries(document.paths ?? {}).map(([path, item]) => ({
    path,
    pattern: patternOf(path),
    operations: item as Path['operations'],
  }));
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'document', components: document.components });
  const compiled = new Map<object, ValidateFunction>();

  function wrong(schema: object, value: unknown): readonly string[] {
    const validate = compiled.get(schema) ?? ajv.compile(withReferences(schema));
    compiled.set(schema, validate);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `body${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  }

  return (method, url, answer) => {
    const served = method === 'HEAD' ? 'get' : method.toLowerCase();
    const operation = operationOf(paths, url, served);
    if (operation === undefined) {
      // The response to a preflight request comes from the CORS plugin, not from a route.
      if (method === 'OPTIONS' && answer.status < 300) return [];
      if (!undescribed.includes(answer.status)) return [`status ${answer.status} of something that is not described`];
      const isKnown = paths.some(({ pattern }) => pattern.test(url.split('?')[0] ?? ''));
      if ((answer.status === 405) !== isKnown && answer.status !== 400)
        return ['405 is for known paths, and 404 for others'];
      if (isKnown && answer.headers['allow'] === undefined) return ['header Allow is missing'];
      return method === 'HEAD' ? [] : wrong({ $ref: '#/components/schemas/Problem' }, answer.body);
    }
    const response = operation.responses?.[answer.status];
    if (response === undefined || '$ref' in response) return [`status ${answer.status} is not described`];
    const missing = Object.keys(response.headers ?? {}).filter(
      (name) => answer.headers[name.toLowerCase()] === undefined,
    );
    return [
      ...missing.map((name) => `header ${name} is described but missing`),
      ...(method === 'HEAD' ? [] : wrongBody(response.content ?? {}, answer, wrong)),
    ];
  };
}

function wrongBody(
  content: Media,
  { headers, text, body }: Answer,
  wrong: (schema: object, value: unknown) => readonly string[],
): readonly string[] {
  if (Object.keys(content).length === 0) return text === '' ? [] : ['a body is not described'];
  const type = String(headers['content-type'] ?? '').split(';')[0] ?? '';
  const schema = content[type]?.schema;
  if (schema === undefined) return [`media type ${type} is not described`];
  return wrong(schema, type.includes('json') ? body : text);
}

/** Prefixes each reference with the id of the document. Ajv needs this prefix to find the named schemas. */
function withReferences(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (key, value) => (key === '$ref' ? `document${value}` : value));
}

/**
 * Returns the operation for a URL. Tries paths without parameters first. For example, `/tokens/search` also matches the
 * path `/tokens/{id}`.
 */
function operationOf(paths: readonly Path[], url: string, method: string): OpenAPIV3_1.OperationObject | undefined {
  const [asked = ''] = url.split('?');
  const found = paths.filter(({ pattern, operations }) => pattern.test(asked) && operations[method] !== undefined);
  return (found.find(({ path }) => !path.includes('{')) ?? found[0])?.operations[method];
}

function patternOf(path: string): RegExp {
  const parts = path.split(/\{[^}]+\}/).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^/]+')}/?$`);
}
