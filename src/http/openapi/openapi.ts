import fastifySwagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { OpenAPIV3_1 } from 'openapi-types';
import { describeRoute, securityScheme } from './describe-route.js';

const description = `Tokens that stand for sensitive data. Every request with a key may carry \`SERVICE-TRACE-ID\`; every
error is a problem (RFC 9457) with a stable \`code\`. HEAD is served like GET, and a slash at the end of a path is
tolerated.`;

/** Collects what routes say of themselves; register it before them. The document is made when first asked for. */
export function collectOperations(app: FastifyInstance): void {
  app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Strongroom', version: '0.1.0', description: description.replaceAll('\n', ' ') },
      components: {
        securitySchemes: {
          [securityScheme]: {
            ...{ type: 'apiKey', in: 'header', name: 'SERVICE-API-KEY' },
            description: 'The key of the calling application.',
          },
        },
      },
    },
    convertConstToEnum: false,
    transform: describeRoute,
    transformObject: (document) => withoutUnused(jsonSchemaTransformObject(document) as OpenAPIV3_1.Document),
  });
}

export function openApiDocument(app: FastifyInstance): OpenAPIV3_1.Document {
  return app.swagger() as OpenAPIV3_1.Document;
}

/** Every named schema comes in two forms, as input and as output; what nothing refers to is left out. */
function withoutUnused(document: OpenAPIV3_1.Document): OpenAPIV3_1.Document {
  const schemas = Object.entries(document.components?.schemas ?? {});
  const text = JSON.stringify([document.paths, schemas]);
  const used = schemas.filter(([name]) => text.includes(`"#/components/schemas/${name}"`));
  const components = { ...document.components, schemas: Object.fromEntries(used) };
  const smaller = { ...document, components };
  return used.length === schemas.length ? smaller : withoutUnused(smaller);
}
