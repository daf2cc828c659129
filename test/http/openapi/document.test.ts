import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect } from 'vitest';
import { problemCatalogue } from '#src/http/problem/problem-catalogue.js';
import { test } from '../routes/support.js';
import { documentOf, mediaOf, operationsIn } from './support.js';

describe('the document', () => {
  test('is valid OpenAPI 3.1 according to an independent validator', async ({ service }) => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate({ ...(await documentOf(service)) });
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
    expect(validator.version).toBe('3.1');
  });

  test('has every route that is served, and nothing else', async ({ service }) => {
    const served = [
      ...service.app.printRoutes({ commonPrefix: false, includeHooks: false }).matchAll(/\(([A-Z, ]+)\)/g),
    ];
    const methods = served.flatMap(([, list = '']) => list.split(', ')).filter((method) => method !== 'HEAD');
    expect(operationsIn(await documentOf(service))).toHaveLength(methods.length);
  });

  test('every operation has a name of its own, a tag, a summary and a description', async ({ service }) => {
    const operations = operationsIn(await documentOf(service));
    const names = operations.map(({ operationId }) => operationId);
    expect(new Set(names).size).toBe(names.length);
    for (const { path, method, operationId, tags, summary, description } of operations) {
      const words = [operationId, tags?.[0], summary, description];
      expect(
        words.every((word) => (word ?? '') !== ''),
        `${method} ${path}`,
      ).toBe(true);
    }
  });

  test('every reference leads somewhere, and every named schema is used', async ({ service }) => {
    const document = await documentOf(service);
    const used = new Set(
      [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name),
    );
    expect([...used].sort()).toEqual(Object.keys(document.components?.schemas ?? {}).sort());
  });
});

describe('answers', () => {
  test('every example is what its schema says', async ({ service }) => {
    const document = await documentOf(service);
    const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
    ajv.addSchema({ $id: 'document', components: document.components });
    let examples = 0;
    for (const operation of operationsIn(document)) {
      const { requestBody, operationId } = operation;
      const sent = requestBody === undefined || '$ref' in requestBody ? [] : Object.values(requestBody.content);
      for (const media of [...sent, ...mediaOf(operation).map(({ media }) => media)]) {
        const schema = JSON.parse(JSON.stringify(media.schema).replaceAll('"#/', '"document#/'));
        const named = Object.values(media.examples ?? {}).map((example) => ('value' in example ? example.value : null));
        for (const example of [...(media.example === undefined ? [] : [media.example]), ...named]) {
          examples += 1;
          expect(ajv.validate(schema, example), `${operationId}: ${ajv.errorsText()}`).toBe(true);
        }
      }
    }
    expect(examples).toBeGreaterThan(50);
  });

  test('every problem is documented under its status in at least one operation', async ({ service }) => {
    const described = new Set(
      operationsIn(await documentOf(service)).flatMap((operation) =>
        mediaOf(operation).flatMap(({ status, media }) =>
          Object.keys(media.examples ?? {}).map((code) => `${status} ${code}`),
        ),
      ),
    );
    const known = Object.entries(problemCatalogue).map(([code, { status }]) => `${status} ${code}`);
    // A key of a tenant that is gone is refused, so only the operator at the command line is told of it.
    expect(known.filter((problem) => !described.has(problem))).toEqual(['404 tenant_not_found']);
  });

  test('a route with a permission requires the key and documents its responses without one and over a limit', async ({
    service,
  }) => {
    const operations = operationsIn(await documentOf(service));
    const forbids = (operation: (typeof operations)[number], code: string) =>
      mediaOf(operation).some(({ status, media }) => status === 403 && Object.hasOwn(media.examples ?? {}, code));
    const open = operations.filter(({ security = [] }) => security.length === 0).map(({ path }) => path);
    expect(open.sort()).toEqual(
      ['/docs', '/docs/style.css', '/errors/{code}', '/health/live', '/health/ready', '/openapi.json'].sort(),
    );
    for (const operation of operations) {
      const { path, security = [], responses = {}, description } = operation;
      expect(forbids(operation, 'tls_required'), path).toBe(!path.startsWith('/health/'));
      if (open.includes(path)) continue;
      expect(security, path).toEqual([{ apiKey: [] }]);
      const anyKey = description?.includes('Needs any key.') === true;
      expect(forbids(operation, 'permission_missing'), path).toBe(!anyKey);
      const expected = ['401', '403', '429', '503'];
      expect(Object.keys(responses), path).toEqual(expect.arrayContaining(expected));
      expect(description, path).toMatch(anyKey ? /Needs any key\./ : /Permission: `\w+:\w+`/);
    }
  });

  test('a route that needs a key may meet a lost one, of a token, a tenant or an entry', async ({ service }) => {
    const keyed = operationsIn(await documentOf(service)).filter(({ security = [] }) => security.length > 0);
    const withoutIt = keyed.filter((operation) =>
      mediaOf(operation).every(
        ({ status, media }) => status !== 500 || !Object.hasOwn(media.examples ?? {}, 'key_lost'),
      ),
    );
    expect(withoutIt.map(({ operationId }) => operationId)).toEqual([]);
    expect(keyed.length).toBeGreaterThan(20);
  });

  test('bodies have their media types', async ({ service }) => {
    const { paths = {} } = await documentOf(service);
    expect(paths['/tokens']?.post?.requestBody).toHaveProperty(['content', 'application/json']);
    expect(paths['/tokens/{id}']?.patch?.requestBody).toHaveProperty(['content', 'application/merge-patch+json']);
    expect(paths['/tokens/{id}']?.get?.responses).toHaveProperty(['404', 'content', 'application/problem+json']);
  });
});

describe('serving', () => {
  test('no schema runs while serving: an undescribed response is sent as the route built it', async ({ service }) => {
    const withSchemas: string[] = [];
    const { createApp } = await import('#src/http/server/app.js');
    const app = createApp(service.service, {
      ...{ headerNames: { apiKey: [], traceId: [], idempotencyKey: [] }, corsOrigins: [], trustedProxies: [] },
      ...{ behindTlsProxy: false, tls: null, log: { request: () => undefined, error: () => undefined } },
    });
    app.addHook('onRoute', ({ schema, method, url }) => {
      if (schema?.response !== undefined || schema?.headers !== undefined) withSchemas.push(`${method} ${url}`);
    });
    app.addHook('onRoute', ({ schema, method, url }) => {
      if (url === '/tokens/:id' && method === 'GET' && schema !== undefined) withSchemas.push(`${method} ${url}`);
    });
    await app.ready();
    await app.close();
    expect(withSchemas).toEqual([]);
  });
});
