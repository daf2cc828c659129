import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { managementPermissions, tokenPermissions } from '#src/domain/access/permission.js';
import { filterNames } from '#src/domain/expressions/catalogue.js';
import type { Json } from '#src/domain/json.js';
import { tokenTypes } from '#src/domain/token/types/token-type.js';
import { typeRules } from '#src/domain/token/types/type-rules.js';
import { evaluate } from '../domain/expressions/support.js';
import { documentOf, operationsIn } from '../http/openapi/support.js';
import { test } from '../http/routes/support.js';
import { root } from './reader.js';

const contract = readFileSync(join(root, 'docs/contract.md'), 'utf8');

/**
 * Returns the rows of the first table below a heading, as lists of cells. The two header lines of the table are left
 * out.
 */
function tableUnder(heading: string): readonly (readonly string[])[] {
  const [, section = ''] = contract.split(`\n### ${heading}\n`);
  const lines = (section.split(/\n#+ /)[0] ?? '').split('\n');
  const start = lines.findIndex((line) => line.startsWith('|'));
  const end = lines.findIndex((line, index) => index > start && !line.startsWith('|'));
  return lines.slice(start + 2, end < 0 ? undefined : end).map((line) =>
    line
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll('\\|', '|')),
  );
}

/** Returns the strings in backticks in this cell. */
function codesIn(cell: string | undefined): readonly string[] {
  return [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}

describe('the tables in the contract match the code', () => {
  test('the token types and their defaults', () => {
    const said = tableUnder('Token types').map(([type, , container, fingerprint, mask]) => ({
      type: codesIn(type)[0],
      container: codesIn(container)[0],
      fingerprint: codesIn(fingerprint)[0],
      // The page writes objects without quotes around their keys.
      mask: codesIn(mask)[0]?.replace(/"/g, '') ?? null,
    }));
    const real = tokenTypes.map((type) => ({
      type,
      container: typeRules[type].defaultContainer,
      fingerprint: typeRules[type].defaultFingerprintExpression,
      mask: written(typeRules[type].defaultMask),
    }));
    expect(said).toEqual(real);
  });

  test('the default search indexes', () => {
    const said = tableUnder('Token types').map((cells) => cells[5] ?? '');
    const real = tokenTypes.map((type) => typeRules[type].defaultSearchIndexes);
    expect(said.slice(0, -1).map(codesIn)).toEqual(real.slice(0, -1));
    expect(said.at(-1)).toBe('the same three');
    expect(real.at(-1)).toEqual(real.at(-2));
  });

  test('the filters', () => {
    const said = tableUnder('Filters').flatMap(([cell]) => codesIn(cell).map((code) => code.split(':')[0]));
    expect([...said].sort()).toEqual([...filterNames].sort());
  });

  test.each(tableUnder('Filter examples'))('the example %s is %s', (example, result) => {
    const [value = '', filter] = codesIn(example);
    const input: Json = /^\d+\.\d+$/.test(value) ? Number(value) : value;
    expect(String(evaluate(`{{ data | ${filter} }}`, input))).toBe(codesIn(result)[0]);
  });

  test('the permissions', () => {
    const said = tableUnder('Permissions').flatMap(([cell]) => codesIn(cell));
    expect([...said].sort()).toEqual([...tokenPermissions, ...managementPermissions].sort());
  });
});

test('the contract names every route in the OpenAPI document', async ({ service }) => {
  // The part in braces is a placeholder that readers replace, so its name does not matter.
  const unnamed = (text: string) => text.replace(/\{[^}\s]+\}/g, '{}');
  const said = new Set(codesIn(unnamed(contract)).map((code) => code.replace(/\?.*/, '')));
  const routes = operationsIn(await documentOf(service)).map(({ method, path }) =>
    unnamed(`${method.toUpperCase()} ${path}`),
  );
  expect(routes.length).toBeGreaterThan(25);
  expect(routes.filter((route) => !said.has(route))).toEqual([]);
});

function written(mask: Json): string | null {
  if (mask === null) return null;
  if (typeof mask === 'string') return mask;
  const entries = Object.entries(mask).map(([key, value]) => `${key}: ${String(value)}`);
  return `{ ${entries.join(', ')} }`;
}
