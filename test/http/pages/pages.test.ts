import { Script } from 'node:vm';
import type { OpenAPIV3_1 } from 'openapi-types';
import { describe, expect } from 'vitest';
import { problemCatalogue } from '#src/http/problem/problem-catalogue.js';
import { documentOf, mediaOf, operationsIn } from '../openapi/support.js';
import { test } from '../routes/support.js';

const rest = "style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const styleSheet = '<link rel="stylesheet" href="/docs/style.css">';

describe('pages need no key, and load nothing except our own style sheet and the script of the reference', () => {
  test.for([
    ['/docs', "default-src 'none'; script-src 'self';", [styleSheet, '<script src="/docs/script.js" defer>']],
    ['/docs/', "default-src 'none'; script-src 'self';", [styleSheet, '<script src="/docs/script.js" defer>']],
    ['/errors/validation_failed', "default-src 'none';", [styleSheet]],
    ['/errors/rate_limited', "default-src 'none';", [styleSheet]],
  ] as const)('%s', async ([url, sources, expected], { service }) => {
    const { status, headers, text } = await service.call('GET', url, undefined, { key: null });
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['content-security-policy']).toBe(`${sources} ${rest}`);
    const loaded = [...text.matchAll(/<(?:script|img|iframe|link|object|embed)\b[^>]*>/g)].map(([tag]) => tag);
    expect(loaded).toEqual(expected);
    expect(text).not.toMatch(/\son\w+=|\sstyle=|javascript:|(?:href|src|action)="(?:https?:)?\/\//);
  });

  test('the script itself loads, sends and evaluates nothing', async ({ service }) => {
    const { status, headers, text } = await service.call('GET', '/docs/script.js', undefined, { key: null });
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(text).not.toMatch(/import|fetch|XMLHttpRequest|sendBeacon|WebSocket|eval|Function\(|innerHTML|https?:/);
    expect(() => new Script(text)).not.toThrow();
  });

  test('the style sheet loads nothing', async ({ service }) => {
    const { status, headers, text } = await service.call('GET', '/docs/style.css', undefined, { key: null });
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/css; charset=utf-8');
    expect(text).not.toMatch(/url\(|@import/);
  });
});

describe('the reference', () => {
  test('has every operation, every named schema, and no broken link', async ({ service }) => {
    const { text } = await service.call('GET', '/docs', undefined, { key: null });
    const document = await documentOf(service);
    for (const { operationId } of operationsIn(document)) expect(text).toContain(`id="${operationId}"`);
    for (const name of Object.keys(document.components?.schemas ?? {})) expect(text).toContain(`id="schema-${name}"`);
    const ids = [...text.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const links = [...text.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    expect(links.filter((id) => !ids.includes(id))).toEqual([]);
  });

  test('shows the default, the limits and the pattern of every parameter and field', async ({ service }) => {
    const { text } = await service.call('GET', '/docs', undefined, { key: null });
    const document = await documentOf(service);
    const all = [
      ...operationsIn(document).flatMap(({ operationId = '', parameters = [] }) =>
        parameters.flatMap((parameter) =>
          'in' in parameter ? [{ section: operationId, name: parameter.name, schema: parameter.schema }] : [],
        ),
      ),
      ...operationsIn(document).flatMap(({ operationId = '', requestBody = {} }) =>
        'content' in requestBody
          ? Object.values(requestBody.content).flatMap(({ schema }) => fieldsOf(operationId, schema))
          : [],
      ),
      ...Object.entries(document.components?.schemas ?? {}).flatMap(([name, schema]) =>
        fieldsOf(`schema-${name}`, schema),
      ),
    ];
    let shown = 0;
    for (const { section, name, schema } of all) {
      const row = rowOf(text, section, name);
      for (const limit of limitsOf(schema)) {
        expect(row, `${section} ${name}`).toContain(limit);
        shown += 1;
      }
    }
    expect(shown).toBeGreaterThan(30);
  });

  test('names the problems of every operation, with links to their pages', async ({ service }) => {
    const { text } = await service.call('GET', '/docs', undefined, { key: null });
    let shown = 0;
    for (const operation of operationsIn(await documentOf(service))) {
      const section = sectionOf(text, operation.operationId ?? '');
      for (const { media } of mediaOf(operation).filter(({ type }) => type === 'application/problem+json')) {
        for (const code of Object.keys(media.examples ?? {})) {
          expect(section, operation.operationId).toContain(`<a href="/errors/${code}"><code>${code}</code></a>`);
          shown += 1;
        }
      }
    }
    expect(shown).toBeGreaterThan(100);
  });

  test('shows the method and path of each operation in its curl sample, without braces that curl would expand', async ({
    service,
  }) => {
    const { text } = await service.call('GET', '/docs', undefined, { key: null });
    for (const { operationId = '', method, path } of operationsIn(await documentOf(service))) {
      const [, sample = ''] = /class="sample curl"><div class="code"><pre[^>]*><code>(.*?)<\/code>/s.exec(
        sectionOf(text, operationId),
      ) ?? [''];
      const [, given = 'get', url = ''] = /^curl -sS(?: -X (\w+))? &quot;\$STRONGROOM([^&]*)&quot;/.exec(sample) ?? [
        '',
      ];
      expect(given.toLowerCase(), operationId).toBe(method);
      expect(url.split('?')[0]).toMatch(
        new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '\\$[A-Z_]+')}$`),
      );
    }
  });

  test('closes every tag that it opens', async ({ service }) => {
    const { text } = await service.call('GET', '/docs', undefined, { key: null });
    const open: string[] = [];
    for (const [, close, name = ''] of text.matchAll(/<(\/?)([a-z][a-z0-9]*)\b[^>]*>/g)) {
      if (['meta', 'link', 'input'].includes(name)) continue;
      if (close === '/') expect(open.pop()).toBe(name);
      else open.push(name);
    }
    expect(open).toEqual([]);
  });
});

describe('error pages', () => {
  test('exist for every problem, with its title, status and advice', async ({ service }) => {
    for (const [code, { status, title }] of Object.entries(problemCatalogue)) {
      const page = await service.call('GET', `/errors/${code}`, undefined, { key: null });
      expect(page.status, code).toBe(200);
      expect(page.text).toContain(`<h1>${title}</h1>`);
      expect(page.text).toContain(`Status ${status}`);
    }
  });

  test.for(['unheard_of', 'constructor', '__proto__', '%3Cscript%3E'])(
    '/errors/%s returns 404',
    async (code, { service }) => {
      const { status, text } = await service.call('GET', `/errors/${code}`, undefined, { key: null });
      expect(status).toBe(404);
      expect(text).not.toContain('script');
    },
  );
});

type Schema = OpenAPIV3_1.SchemaObject | OpenAPIV3_1.ReferenceObject;

function fieldsOf(section: string, schema: Schema | undefined) {
  if (schema === undefined || '$ref' in schema) return [];
  return Object.entries(schema.properties ?? {}).map(([name, field]) => ({ section, name, schema: field }));
}

function sectionOf(text: string, id: string): string {
  const [, rest = ''] = text.split(`<section class="operation" id="${id}">`);
  return rest.split('</section>')[0] ?? '';
}

/** Returns the first row with this name in a section. */
function rowOf(text: string, section: string, name: string): string {
  const [, rest = ''] = sectionOf(text, section).split(`<tr><td><code>${name}</code>`);
  return rest.split('</tr>')[0] ?? '';
}

/**
 * Returns the texts that a page must show for a schema, including the texts for the items of an array and for each
 * alternative.
 */
function limitsOf(schema: Schema | undefined): readonly string[] {
  if (schema === undefined || '$ref' in schema) return [];
  const { minimum, maximum, format, pattern } = schema;
  const shown = (label: string, value: unknown, unit = '') => (value === undefined ? [] : [`${label}${value}${unit}`]);
  const bound = (label: string, value: number | undefined) =>
    Math.abs(value ?? 0) === Number.MAX_SAFE_INTEGER ? [] : shown(`${label} <code>`, value, '</code>');
  const fallback = typeof schema.default === 'object' ? JSON.stringify(schema.default) : schema.default;
  return [
    ...shown('default <code>', fallback, '</code>'),
    ...bound('at least', minimum),
    ...bound('at most', maximum),
    ...shown('at least ', schema.minLength, ' characters'),
    ...shown('at most ', schema.maxLength, ' characters'),
    ...shown('at least ', schema.minItems, ' items'),
    ...shown('at most ', schema.maxItems, ' items'),
    ...(format === undefined ? shown('pattern <code>', pattern && escaped(pattern), '</code>') : []),
    ...('items' in schema ? limitsOf(schema.items) : []),
    ...(schema.anyOf ?? []).flatMap(limitsOf),
  ];
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
