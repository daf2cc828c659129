import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { pagesOf } from './blocks.js';
import { root } from './reader.js';
import { headingsOf, wrongCitations, wrongLinks, wrongPaths, wrongTests } from './references.js';

/** All source files and tests, except this test file, which cites pages that intentionally do not exist. */
const sources = ['src', 'test', 'bench', 'scripts'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path}`)
    .filter((path) => /\.(?:ts|mjs|sh)$/.test(path) && !path.startsWith('test/docs/')),
);
const decisions = readdirSync(join(root, 'docs/adr'))
  .filter((name) => name !== 'README.md')
  .map((name) => `docs/adr/${name}`);
const pages = [...pagesOf(root), 'CHANGELOG.md', 'docs/adr/README.md'];
const textOf = (path: string) => readFileSync(join(root, path), 'utf8');

describe('a reader who follows a reference finds what the reference names', () => {
  test('comments cite only pages, headings and decisions that exist', () => {
    expect(sources.length).toBeGreaterThan(500);
    expect(sources.flatMap((path) => wrongCitations(root, path, textOf(path)))).toEqual([]);
  });

  test('links on a page lead to files and headings that exist', () => {
    expect([...pages, ...decisions].flatMap((page) => wrongLinks(root, page, textOf(page)))).toEqual([]);
  });

  test('a page and its pictures name only files and folders of the project that exist', () => {
    expect(pages.flatMap((page) => wrongPaths(root, page, textOf(page)))).toEqual([]);
  });

  test('a page cites only tests that exist', () => {
    expect(pages.flatMap((page) => wrongTests(root, page, textOf(page)))).toEqual([]);
  });

  test('git ignores the keys, plaintext and backups that a reader of the pages writes into the project', () => {
    const files = [
      'data/dev-keys.json',
      'data.root-key',
      'rehearsal.root-key',
      'reports.key',
      'tls.key',
      'backup.identity',
      'backup.recipient',
      'customers.ndjson',
      'customers.ndjson.resume',
      'backup.age',
      'erased.txt',
      'monday/keys.db.age',
      'restored/keys.db',
      'rehearsal/keys.db',
    ];
    const patterns = textOf('.gitignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    const matches = (file: string) => (pattern: string) =>
      pattern.startsWith('*')
        ? file.endsWith(pattern.slice(1))
        : `/${file}`.startsWith(`/${pattern.replace(/^\//, '')}`);
    expect(files.filter((file) => !patterns.some(matches(file)))).toEqual([]);
  });

  test('the index of decisions lists each decision exactly once', () => {
    const listed = [...textOf('docs/adr/README.md').matchAll(/^\| \[\d+\]\(([^)]+)\)/gm)].map(
      ([, file]) => `docs/adr/${file}`,
    );
    expect(listed).toEqual([...decisions].sort());
  });

  test.each(['docs/contract.md', 'docs/design.md'])(
    'no two headings of %s are the same, so each citation is unambiguous',
    (page) => {
      const headings = headingsOf(textOf(page));
      expect(headings.filter((heading, index) => headings.indexOf(heading) !== index)).toEqual([]);
    },
  );
});

describe('a dangling reference is reported', () => {
  const wrongOf = (comment: string) => wrongCitations(root, 'a.ts', comment);

  test('if a heading does not exist, even if it is cited as the second one or across a line break', () => {
    expect(wrongOf('/** Docs/contract.md, "Search grammar" is no path. */')).toEqual([]);
    expect(wrongOf('/** See docs/contract.md, "Search grammar". */')).toEqual([]);
    expect(wrongOf('/** See docs/contract.md, "Search grammer". */')).toEqual([
      'a.ts: docs/contract.md has no heading "Search grammer"',
    ]);
    expect(wrongOf('(contract, section 5)')).toEqual(['a.ts: contract, section cites no heading of docs/']);
    expect(wrongOf('(docs/contract.md, "Filters" and "Nothing")')).toEqual([
      'a.ts: docs/contract.md has no heading "Nothing"',
    ]);
    expect(wrongOf('/**\n   * See docs/contract.md,\n   * "Search\n   * grammar" and\n   * "Nothing".\n   */')).toEqual(
      ['a.ts: docs/contract.md has no heading "Nothing"'],
    );
    expect(wrongOf('// See docs/contract.md, "Nothing\n// here".')).toEqual([
      'a.ts: docs/contract.md has no heading "Nothing here"',
    ]);
  });

  test('if the contract is cited without a heading, or if a page or decision does not exist', () => {
    expect(wrongOf('// See docs/contract.md.')).toEqual(['a.ts: docs/contract.md is cited without a heading']);
    expect(wrongOf('// See docs/reference/search.md.')).toEqual([]);
    expect(wrongOf('// See docs/reference/nothing.md.')).toEqual(['a.ts: there is no page docs/reference/nothing.md']);
    expect(wrongOf('// See ADR 3.')).toEqual([]);
    expect(wrongOf('// See ADR 999.')).toEqual(['a.ts: there is no ADR 999']);
  });

  test('if a link leads to a missing file or heading; external links and code are ignored', () => {
    const linksOf = (markdown: string) => wrongLinks(root, 'docs/a.md', markdown);
    expect(linksOf('[a](contract.md#search-grammar) [b](../README.md) [c](https://example.org/#x)')).toEqual([]);
    expect(linksOf('`[a](nothing.md)`\n```\n[a](nothing.md)\n```\n')).toEqual([]);
    expect(linksOf('[a](nothing.md)')).toEqual(['docs/a.md: docs/nothing.md does not exist']);
    expect(linksOf('[a](contract.md#nothing)')).toEqual(['docs/a.md: docs/contract.md has no heading for #nothing']);
  });

  test('if a cited test does not exist', () => {
    expect(wrongTests(root, 'a.md', 'See `docs/references.test.ts` and `test/docs/links.test.ts`.')).toEqual([
      'a.md: there is no test/docs/links.test.ts',
    ]);
  });

  test('if a path in the project does not exist; other paths that end in the same way are ignored', () => {
    expect(
      wrongPaths(root, 'a.md', 'Routes<br/>src/http, `src/ports/clock.ts`. In `#src/x` and `other/src/x`.'),
    ).toEqual([]);
    expect(wrongPaths(root, 'a.md', 'src/nowhere/at/all')).toEqual(['a.md: there is no src/nowhere/at/all']);
    expect(wrongPaths(root, 'a.md', '`bench/run/parts.mjs`')).toEqual(['a.md: there is no bench/run/parts.mjs']);
  });
});
