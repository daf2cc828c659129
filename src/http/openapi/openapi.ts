import fastifySwagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { OpenAPIV3_1 } from 'openapi-types';
import { routeDescriber, type SecurityScheme, securitySchemes } from './describe-route.js';
import { tagDescriptions } from './operation.js';

const description = [
  'Strongroom stores sensitive values and returns tokens in their place.',
  'Any request may have the header `SERVICE-TRACE-ID`.',
  'Every error is a problem document (RFC 9457) with a stable `code`.',
  'HEAD behaves like GET, and a trailing slash is accepted.',
  'A method that a path does not support returns 405 with `Allow`.',
].join(' ');

/**
 * Collects the descriptions of all routes that are registered after this call. The OpenAPI document is built on the
 * first request for it. It includes bearer tokens only if the service accepts them.
 */
export function collectOperations(app: FastifyInstance, acceptsBearer: boolean): void {
  const schemes: readonly SecurityScheme[] = acceptsBearer ? ['apiKey', 'bearer'] : ['apiKey'];
  app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Strongroom',
        version: '0.1.0',
        description,
        contact: { name: 'The operator of this service' },
        license: { name: 'All rights reserved', identifier: 'LicenseRef-Strongroom' },
      },
      // The URL is relative to the document, so it is valid behind any proxy. Threat: an attacker chooses the Host
      // header, so an address from that header cannot be trusted.
      servers: [{ url: '/', description: 'The service that serves this document.' }],
      tags: Object.entries(tagDescriptions).map(([name, text]) => ({ name, description: text })),
      components: { securitySchemes: Object.fromEntries(schemes.map((scheme) => [scheme, securitySchemes[scheme]])) },
    },
    convertConstToEnum: false,
    transform: routeDescriber(schemes),
    transformObject: (document) =>
      withoutUnused(withSerialization(jsonSchemaTransformObject(document) as OpenAPIV3_1.Document)),
  });
}

export function openApiDocument(app: FastifyInstance): OpenAPIV3_1.Document {
  return app.swagger() as OpenAPIV3_1.Document;
}

/**
 * Moves `style` and `explode` from the schema of each query parameter to the parameter itself. The library itself can
 * apply only one style to the whole query string.
 */
function withSerialization(document: OpenAPIV3_1.Document): OpenAPIV3_1.Document {
  const operations = Object.values(document.paths ?? {}).flatMap((item) => Object.values(item ?? {}));
  for (const operation of operations as readonly { readonly parameters?: readonly Parameter[] }[]) {
    for (const parameter of operation.parameters ?? []) {
      const { style, explode, ...schema } = parameter.schema ?? {};
      if (style !== undefined) Object.assign(parameter, { style, explode, schema });
    }
  }
  return document;
}

type Parameter = { readonly schema?: { readonly style?: string; readonly explode?: boolean } };

/**
 * Returns the document without its unused named schemas. The library adds an input form and an output form of each
 * schema.
 */
function withoutUnused(document: OpenAPIV3_1.Document): OpenAPIV3_1.Document {
  const schemas = Object.entries(document.components?.schemas ?? {});
  const text = JSON.stringify([document.paths, schemas]);
  const used = schemas.filter(([name]) => text.includes(`"#/components/schemas/${name}"`));
  const components = { ...document.components, schemas: Object.fromEntries(used) };
  const smaller = { ...document, components };
  return used.length === schemas.length ? smaller : withoutUnused(smaller);
}
