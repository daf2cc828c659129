import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { http, run, runJson, startService } from '../../support/process.js';
import { allRequests, expectNoMarker, importJson, marker, vaultWithKeyFile } from './support.js';

const summary = { complete: true, created: 0, skipped: 0, deduplicated: 0, failed: 0 };

describe.each([
  ['alone', false],
  ['through a running service', true],
])('import %s', (_how, isRunning) => {
  test('valid lines become tokens, invalid lines are reported without stopping the import, and a second run skips existing tokens', async () => {
    const { args, flags, dir } = await vaultWithKeyFile();
    if (isRunning) await startService(flags);
    const file = join(dir, 'in.ndjson');
    const lines = [
      `{"type":"token","data":"${marker}-same"}`,
      `{"type":"token","data":"${marker}-same"}\r`,
      '',
      `  {"id":"named-1","type":"token","data":"${marker}-named"}  `,
      '{"type":"card","data":{"number":"4242424242424241","holder":"marker-8153"}}',
      `{"type":"token","data":"${marker}`,
      `{"type":"${marker}","data":1,"search_indexes":[1]}`,
      `["${marker}"]`,
      `{"type":"token","data":"\xff"}`,
      `{"id":"{{ data | alias_preserve_length: 1, 1 }}","type":"token","data":"${marker}-alias"}`,
      `{"id":"{{ data.a }}","type":"token","data":{"a":"evaluated"}}`,
      `{"type":"token","data":"${marker}-same","deduplicate_token":true}`,
      `{"type":"token","data":"${'x'.repeat(4 * 1024 * 1024)}"}`,
      `{"type":"token","data":"${marker}-last"}`,
    ];
    writeFileSync(file, Buffer.from(`\xef\xbb\xbf${lines.join('\n')}`, 'latin1'));

    const first = await importJson([file, ...args]);
    expect(first.failed.map(({ line }) => line).sort((a, b) => Number(a) - Number(b))).toEqual([5, 6, 7, 8, 9, 10, 13]);
    const errorsOf = (line: number) => first.failed.find((failed) => failed.line === line)?.errors;
    expect(errorsOf(5)).toEqual({ 'data.number': [expect.stringMatching(/check digit/)] });
    expect(errorsOf(6)).toEqual({ line: [expect.any(String)] });
    expect(Object.keys(errorsOf(7) as object).sort()).toEqual(['search_indexes[0]', 'type']);
    expect(errorsOf(8)).toEqual({ line: ['must be a JSON object'] });
    expect(errorsOf(9)).toEqual({ line: ['must be UTF-8'] });
    expect(errorsOf(10)).toEqual({ id: [expect.stringMatching(/alias/)] });
    expect(errorsOf(13)).toEqual({ line: ['must be at most 4 MiB long'] });
    expect(first.code).toBe(1);
    // The last line with the value `same` allows deduplication. It is deduplicated if either of the other two lines is
    // imported first. Otherwise, it creates a token.
    expect(first.summary).toMatchObject({ complete: true, skipped: 0, failed: 7 });
    expect(Number(first.summary['created']) + Number(first.summary['deduplicated'])).toBe(6);
    const tokens = await allRequests(args);
    expect(tokens.map(({ id }) => id)).toEqual(expect.arrayContaining(['named-1', 'evaluated']));
    expect(statSync(`${file}.resume`).mode & 0o777).toBe(0o600);

    const mended = lines.filter((_, i) => i !== 5 && i !== 12).map((line) => line.replace('4241"', '4242"'));
    writeFileSync(file, Buffer.from(mended.join('\r\n'), 'latin1'));
    const second = await importJson([file, ...args]);
    expect(second.summary).toMatchObject({ created: 1, failed: 4 });
    expect(await allRequests(args)).toHaveLength(tokens.length + 1);
  });

  test('with --strict, nothing after the first invalid line is imported, and a second run continues', async () => {
    const { args, flags, dir } = await vaultWithKeyFile();
    if (isRunning) await startService(flags);
    const file = join(dir, 'in.ndjson');
    const line = (n: number, type = 'token') => JSON.stringify({ type, data: `${marker}-${n}` });
    for (const bad of ['{"type":', line(0, 'card')]) {
      const lines = Array.from({ length: 200 }, (_, i) => (i === 149 ? bad : line(i)));
      writeFileSync(file, lines.join('\n'));
      const ended = await importJson([file, '--strict', ...args]);
      expect(ended).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/line 150.*Correct the file and run the same command again/s),
      });
      expect(ended.failed.map((failed) => failed.line)).toEqual([150]);
      expect(await allRequests(args)).toHaveLength(149);
    }
    writeFileSync(file, Array.from({ length: 200 }, (_, i) => line(i)).join('\n'));
    const ended = await importJson([file, '--strict', ...args]);
    expect(ended).toMatchObject({ code: 0, summary: { ...summary, created: 51, skipped: 149 } });
  });
});

test('a line fails if its id belongs to a token with another value, unless the token cannot be read or was changed since', async () => {
  const { args, flags, dir, key } = await vaultWithKeyFile();
  const service = await startService(flags);
  const line = (data: unknown) => JSON.stringify({ id: 'taken', type: 'token', data });
  expect((await importJson(['-', ...args], line(1))).summary).toEqual({ ...summary, created: 1 });
  expect((await importJson(['-', ...args], line(1))).summary).toEqual({ ...summary, skipped: 1 });
  const other = await importJson(['-', ...args], line(2));
  expect(other).toMatchObject({ code: 1, failed: [{ line: 1, errors: { id: [expect.stringMatching(/in use/)] } }] });
  const planted = JSON.stringify({ id: 'planted', type: 'token', data: 'other', fingerprint_expression: 'the value' });
  const genuine = JSON.stringify({ id: 'planted', type: 'token', data: 'the value' });
  expect((await importJson(['-', ...args], planted)).summary).toEqual({ ...summary, created: 1 });
  expect((await importJson(['-', ...args], genuine)).summary).toEqual({ ...summary, failed: 1 });
  const create = ['applications', 'create', '--name', 'w', '--type', 'public', '--permissions', 'token:create'];
  const writer = join(dir, 'writer.key');
  writeFileSync(writer, String((await runJson([...create, ...flags]))['key']), { mode: 0o600 });
  const unread = await importJson(['-', '--api-key-file', writer, ...flags], line(2));
  expect(unread.summary).toEqual({ ...summary, skipped: 1 });
  await http('PATCH', `${service.address}/tokens/taken`, { key, body: { metadata: { a: 'b' } } });
  expect((await importJson(['-', ...args], line(2))).summary).toEqual({ ...summary, skipped: 1 });
});

test('lines with ids may come from standard input; lines without ids need a resume file', async () => {
  const { args, dir } = await vaultWithKeyFile();
  const stdin = `{"type":"token","data":"${marker}"}`;
  const refused = await importJson(['-', ...args], stdin);
  expect(refused).toMatchObject({ code: 1, failed: [{ errors: { id: [expect.stringMatching(/--resume-file/)] } }] });
  const resume = ['--resume-file', join(dir, 'resume')];
  expect((await importJson(['-', ...resume, ...args], stdin)).summary).toEqual({ ...summary, created: 1 });
  expect((await importJson(['-', ...resume, ...args], stdin)).summary).toEqual({ ...summary, skipped: 1 });
  writeFileSync(join(dir, 'resume'), 'something else');
  expect(await importJson(['-', ...resume, ...args], stdin)).toMatchObject({ code: 1, summary: { created: 0 } });
  expect(readFileSync(join(dir, 'resume'), 'utf8')).toBe('something else');
  symlinkSync(join(dir, 'nowhere'), join(dir, 'link'));
  const linked = await importJson(['-', '--resume-file', join(dir, 'link'), ...args], stdin);
  expect(linked).toMatchObject({
    code: 1,
    summary: { created: 0 },
    stderr: expect.stringMatching(/link is a symbolic link to a/),
  });
  expect(existsSync(join(dir, 'nowhere'))).toBe(false);
});

test('the messages about a large file of invalid lines do not fill the memory', async () => {
  const { args } = await vaultWithKeyFile();
  const env = { NODE_OPTIONS: '--max-old-space-size=64' };
  for (const format of [[], ['--json']]) {
    const ended = await run(['tokens', 'import', '-', ...args, ...format], { stdin: 'x\n'.repeat(300_000), env });
    expect(ended.code, ended.stderr.slice(-500)).toBe(1);
    expect(ended.stderr.slice(-200)).toContain('300,000 lines were not imported');
  }
});

test('an import stops when the application has used up its guesses, and says so', async () => {
  const { args, flags, dir } = await vaultWithKeyFile();
  const found = (id: string) => JSON.stringify({ id, type: 'token', data: `${marker}-found`, deduplicate_token: true });
  expect((await importJson(['-', ...args], found('first'))).summary).toEqual({ ...summary, created: 1 });
  const create = ['applications', 'create', '--name', 'w', '--type', 'public', '--permissions', 'token:create'];
  const writer = join(dir, 'writer.key');
  writeFileSync(writer, String((await runJson([...create, ...flags]))['key']), { mode: 0o600 });
  await startService([...flags, '--rate-limit-guesses', '2']);
  const lines = Array.from({ length: 200 }, (_, i) => found(`guess-${i}`)).join('\n');
  const ended = await importJson(['-', '--strict', '--api-key-file', writer, ...flags], lines);
  expect(ended).toMatchObject({ code: 1, failed: [], summary: { complete: false, created: 0, deduplicated: 2 } });
  expect(ended.stderr).toMatch(/looked up too many values.*Wait until the hour is over.*run the same command again/s);
  // The lines after the guesses are not tried one by one.
  expect(await importJson(['-', '--api-key-file', writer, ...flags], lines)).toMatchObject({
    code: 1,
    failed: [],
    summary: { complete: false, created: 0, deduplicated: 0 },
  });
});

test('text output consists of a summary and the lines that failed', async () => {
  const { args, dir } = await vaultWithKeyFile();
  const file = join(dir, 'in.ndjson');
  writeFileSync(file, `{"id":"one","type":"token","data":"${marker}"}\n{"id":"two","type":"card","data":{}}\n5\n`);
  const ended = await run(['tokens', 'import', file, ...args]);
  expectNoMarker(ended);
  expect(ended).toMatchObject({ code: 1, stdout: 'created 1, skipped 0, deduplicated 0, failed 2\n' });
  expect(ended.stderr).toMatch(/^line 2: data\.number: /m);
  expect(ended.stderr).toMatch(/^line 3: must be a JSON object$/m);
  expect(ended.stderr).toMatch(/^2 lines were not imported\. /m);
  // Every line had an id, so no resume file was needed.
  expect(existsSync(`${file}.resume`)).toBe(false);
  expect(await run(['tokens', 'import', join(dir, 'none'), ...args])).toMatchObject({ code: 1, stdout: '' });
});

test('a search shows the page as the application may see it', async () => {
  const { args } = await vaultWithKeyFile();
  const requests = [1, 2, 3].map((n) => JSON.stringify({ id: `found-${n}`, type: 'token', data: n }));
  await importJson(['-', ...args], requests.join('\n'));
  const page = await runJson(['tokens', 'search', 'type:token', '--size', '2', '--page', '2', ...args]);
  expect(page).toMatchObject({ pagination: { total_items: 3, page_number: 2, page_size: 2, total_pages: 2 } });
  expect(page['data']).toHaveLength(1);
  const table = await run(['tokens', 'search', '-', ...args], { stdin: 'id:found-2\n' });
  expect(table.stdout).toMatch(
    /^ID +TYPE +CREATED +CONTAINERS\nfound-2 +token +20.* \/general\/high\/\n1 token found\n$/,
  );
  const misspelt = await run(['tokens', 'search', 'type:tokn', ...args]);
  expect(misspelt).toMatchObject({ code: 0, stdout: '0 tokens found; did you mean type:token?\n' });
  const bad = await run(['tokens', 'search', `nofield:${marker}`, ...args]);
  expectNoMarker(bad);
  expect(bad).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^query: /) });
});
