import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectral, { type RulesetDefinition } from '@stoplight/spectral-core';
import { oas } from '@stoplight/spectral-rulesets';
import { describe, expect, onTestFinished } from 'vitest';
import { startTestService } from '../../support/test-service.js';
import { test } from '../routes/support.js';
import { documentOf } from './support.js';

/** All of Spectral's OpenAPI rules, including those not recommended by default. */
const ruleset: RulesetDefinition = {
  extends: [[oas as RulesetDefinition, 'all']],
  rules: {
    // The license has an identifier. OpenAPI 3.1 allows either an identifier or a URL.
    'license-url': 'off',
    // Operators run the service, and their addresses are unknown.
    'contact-properties': 'off',
    // The tags are in the order of the reference.
    'openapi-tags-alphabetical': 'off',
  },
};

async function spectralReport(document: object): Promise<readonly string[]> {
  const linter = new spectral.Spectral();
  linter.setRuleset(ruleset);
  const found = await linter.run(JSON.stringify(document));
  return found.map(({ code, path, message }) => `${code} ${path.join('.')}: ${message}`);
}

/** Returns Redocly's findings under its recommended rules. */
async function redoclyReport(document: object): Promise<readonly string[]> {
  const config = await createConfig({ extends: ['recommended'] });
  const found = await lintFromString({ source: JSON.stringify(document), config, absoluteRef: 'openapi.json' });
  return found.map(({ ruleId, location, message }) => `${ruleId} ${location[0]?.pointer}: ${message}`);
}

describe('linters report nothing', () => {
  test('about the document', async ({ service }) => {
    const document = await documentOf(service);
    expect(await spectralReport(document)).toEqual([]);
    expect(await redoclyReport(document)).toEqual([]);
  });

  test('about the document from a service that accepts bearer tokens', async () => {
    const service = await startTestService({ acceptsBearer: true });
    onTestFinished(service.close);
    const document = await documentOf(service);
    expect(await spectralReport(document)).toEqual([]);
    expect(await redoclyReport(document)).toEqual([]);
  });

  test('except about a faulty document', async ({ service }) => {
    const { tags: _, ...document } = await documentOf(service);
    expect((await spectralReport(document)).join('\n')).toContain('operation-tag-defined');
    const { servers: __, ...without } = await documentOf(service);
    expect((await redoclyReport(without)).join('\n')).toContain('no-empty-servers');
  });
});
