import { describe, expect } from 'vitest';
import { problemCatalogue } from '#src/http/problem/problem-catalogue.js';
import { documentOf, operationsIn } from '../openapi/support.js';
import { test } from '../routes/support.js';

const policy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

describe('pages need no key, load nothing but our own style sheet and run nothing', () => {
  test.for(['/docs', '/docs/', '/errors/validation_failed', '/errors/rate_limited'])('%s', async (url, { service }) => {
    const { status, headers, text } = await service.call('GET', url, undefined, { key: null });
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['content-security-policy']).toBe(policy);
    const loaded = [...text.matchAll(/<(?:script|img|iframe|link|object|embed)\b[^>]*>/g)].map(([tag]) => tag);
    expect(loaded).toEqual(['<link rel="stylesheet" href="/docs/style.css">']);
    expect(text).not.toMatch(/\son\w+=|\sstyle=|javascript:|https?:\/\//);
  });

  test('the style sheet loads nothing either', async ({ service }) => {
    const { status, headers, text } = await service.call('GET', '/docs/style.css', undefined, { key: null });
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/css; charset=utf-8');
    expect(text).not.toMatch(/url\(|@import/);
  });
});

describe('the reference', () => {
  test('has every operation, every named schema, and no link that leads nowhere', async ({ service }) => {
    const { text } = await service.call('GET', '/docs', undefined, { key: null });
    const document = await documentOf(service);
    for (const { operationId } of operationsIn(document)) expect(text).toContain(`id="${operationId}"`);
    for (const name of Object.keys(document.components?.schemas ?? {})) expect(text).toContain(`id="schema-${name}"`);
    const ids = [...text.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const links = [...text.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    expect(links.filter((id) => !ids.includes(id))).toEqual([]);
  });

  test('every tag that opens is closed', async ({ service }) => {
    const { text } = await service.call('GET', '/docs', undefined, { key: null });
    const open: string[] = [];
    for (const [, close, name = ''] of text.matchAll(/<(\/?)([a-z][a-z0-9]*)\b[^>]*>/g)) {
      if (['meta', 'link'].includes(name)) continue;
      if (close === '/') expect(open.pop()).toBe(name);
      else open.push(name);
    }
    expect(open).toEqual([]);
  });
});

describe('error pages', () => {
  test('every problem has one, with its title, status and advice', async ({ service }) => {
    for (const [code, { status, title }] of Object.entries(problemCatalogue)) {
      const page = await service.call('GET', `/errors/${code}`, undefined, { key: null });
      expect(page.status, code).toBe(200);
      expect(page.text).toContain(`<h1>${title}</h1>`);
      expect(page.text).toContain(`Status ${status}`);
    }
  });

  test.for(['unheard_of', 'constructor', '__proto__', '%3Cscript%3E'])(
    '/errors/%s is 404',
    async (code, { service }) => {
      const { status, text } = await service.call('GET', `/errors/${code}`, undefined, { key: null });
      expect(status).toBe(404);
      expect(text).not.toContain('script');
    },
  );
});
