import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { problemCatalogue } from '#src/http/problem/problem-catalogue.js';

test('the table of errors lists every problem with its status, meaning and advice, and lists nothing else', () => {
  const page = readFileSync('docs/reference/errors.md', 'utf8');
  const [, table = ''] = /\n## Responses of the API\n(.*?)\n## /s.exec(page) ?? [];
  const rows = [...table.matchAll(/^\| `(\w+)` \| (\d{3}) \| (.*) \| (.*) \|$/gm)].map(
    ([, code, status, detail, advice]) => ({
      code,
      status: Number(status),
      detail: detail?.replaceAll('\\|', '|'),
      advice: advice?.replaceAll('\\|', '|'),
    }),
  );
  const expected = Object.entries(problemCatalogue).map(([code, { status, detail, advice }]) => ({
    code,
    status,
    detail,
    advice,
  }));
  const byCode = (one: { code?: string | undefined }, other: { code?: string | undefined }) =>
    String(one.code).localeCompare(String(other.code));
  expect([...rows].sort(byCode)).toEqual([...expected].sort(byCode));
});
