import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectral, { type RulesetDefinition } from '@stoplight/spectral-core';
import { oas } from '@stoplight/spectral-rulesets';
import { describe, expect, onTestFinished } from 'vitest';
import { startTestService } from '../../support/test-service.js';
import { test } from '../routes/support.js';
import { documentOf } from './support.js';

/** All OpenAPI rules of Spectral, including those that are turned off by default. */
const ruleset: RulesetDefinition = {
  extends: [[oas as RulesetDefinition, 'all']],
  rules: {
    // Our license has an identifier. OpenAPI 3.1 allows either an identifier or a URL.
    'license-url': 'off',
    // Contact properties are left out. Each operator runs their own service, and the document cannot contain their
    // addresses.
    'contact-properties': 'off',
    // The order of the tags is the order in which the reference shows them.
    'openapi-tags-alphabetical': 'off',
  },
};

async function spectralReport(document: object): Promise<readonly string[]> {
  const linter = new spectral.Spectral();
  linter.setRuleset(ruleset);
  const found = await linter.run(JSON.stringify(document));
  return found.map(({ code, path, message }) => `${code} ${path.join('.')}: ${message}`);
}

/** Returns the problems found by Redocly with its recommended rules. */
async function redoclyReport(document: object): Promise<readonly string[]> {
  const config = await createConfig({ extends: ['recommended'] });
  const found = await lintFromString({ source: JSON.stringify(document), config, absoluteRef: 'openapi.json' });
  return found.map(({ ruleId, location, message }) => `${ruleId} ${location[0]?.pointer}: ${message}`);
}

describe('the linters report', () => {
  test('nothing about the document', async ({ service }) => {
    const document = await documentOf(service);
    expect(await spectralReport(document)).toEqual([]);
    expect(await redoclyReport(document)).toEqual([]);
  });

  test('nothing about the document of a service that accepts bearer tokens', async () => {
    const service = await startTestService({ acceptsBearer: true });
    onTestFinished(service.close);
    const document = await documentOf(service);
    expect(await spectralReport(document)).toEqual([]);
    expect(await redoclyReport(document)).toEqual([]);
  });

  test('the faults of a faulty document', async ({ service }) => {
    const { tags: _, ...document } = await documentOf(service);
    expect((await spectralReport(document)).join('\n')).toContain('operation-tag-defined');
    const { servers: __, ...without } = await documentOf(service);
    expect((await redoclyReport(without)).join('\n')).toContain('no-empty-servers');
  });
});
