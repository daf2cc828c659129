import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { makeVault, run, type TestVault } from '../support/process.js';

/**
 * No command's output may match these patterns. They find wrong plurals, numbers with unclear labels, and unidiomatic
 * words.
 */
const wrong = [
  /\b(?<!,)1 (?:events|tokens|rows|batches|chains|commits|lines|keys|problems|applications|minutes)\b/,
  /\((?:s|es)\)/,
  /\bgap\b/i,
  /\b(?:nobody|somebody|whoever|anew|in clear|says no more|looked over|asked wrongly)\b/i,
];

let vault: TestVault;
let as: readonly string[];

beforeEach(async () => {
  vault = await makeVault();
  const keyFile = join(vault.dir, 'key');
  writeFileSync(keyFile, vault.key, { mode: 0o600 });
  as = ['--api-key-file', keyFile, ...vault.flags];
});

async function outputOf(args: readonly string[], code = 0): Promise<string> {
  const ended = await run(args);
  const text = ended.stdout + ended.stderr;
  expect(ended.code, text).toBe(code);
  for (const pattern of wrong) expect(text, args.join(' ')).not.toMatch(pattern);
  return text;
}

async function importLines(name: string, lines: readonly object[], code = 0): Promise<string> {
  const file = join(vault.dir, name);
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return outputOf(['tokens', 'import', file, ...as], code);
}

test('output uses the right plural for zero, one and two, and explains each number', async () => {
  const line = (id: string) => ({ id, type: 'token', data: `value of ${id}` });
  expect(await outputOf(['tokens', 'search', 'type:token', ...as])).toBe('0 tokens found\n');
  const out = (name: string) => ['tokens', 'export', '--plaintext', '--out', join(vault.dir, name), ...as];
  expect(await outputOf(out('none'))).toContain('exported 0 tokens to ');
  expect(await importLines('one.ndjson', [line('one')])).toBe('created 1, skipped 0, deduplicated 0, failed 0\n');
  expect(await outputOf(['tokens', 'search', 'type:token', ...as])).toMatch(/^ID +TYPE.*\none .*\n1 token found\n$/);
  expect(await outputOf(out('one'))).toContain('exported 1 token to ');
  expect(await outputOf(['projections', 'rebuild', 'tokens', '--dry-run', ...vault.flags])).toContain(
    'writes 1 row beside',
  );
  expect(await outputOf(['audit', 'history', 'one', ...as])).toMatch(/\n1 event\n$/);
  const replay = ['audit', 'replay', '--query', 'type:token', '--as-of', new Date().toISOString(), ...as];
  expect(await outputOf(replay)).toMatch(/^ID {34} +TYPE +CREATED\none .*\n1 token found\n$/);
  expect(await importLines('bad.ndjson', [{ id: 'bad' }], 1)).toContain('1 line was not imported.');
  await importLines('two.ndjson', [line('one'), line('two')]);
  expect(await outputOf(['tokens', 'search', 'type:token', ...as])).toMatch(/\n2 tokens found\n$/);
  expect(await outputOf(['audit', 'verify', ...vault.flags])).toMatch(
    /^\d+ events, .*\n.*\n.*\nthe access log is intact: \d+ batch(es)? in \d+ chains?\n/,
  );
  await outputOf(['audit', 'export', '--out', join(vault.dir, 'log.jsonl'), ...vault.flags]);
  await outputOf(['projections', 'rebuild', '--all', '--yes', ...vault.flags]);
  const moment = new Date().toISOString();
  expect(await outputOf(['tokens', 'delete', 'two', ...as])).toBe('deleted\n');
  const before = ['audit', 'replay', '--query', 'type:token', '--as-of', moment, ...as];
  expect(await outputOf(before)).toMatch(
    /\n1 token found; 1 token from that time has been erased, so the query could not check it\n$/,
  );
});

test('projection statuses are words, and doctor prints the same words', async () => {
  const status = await outputOf(['projections', 'status', ...vault.flags]);
  expect(status).toMatch(/^NAME +VERSION +GENERATION +POSITION +HEAD +STATUS +LAST REBUILD\n/);
  expect(status).toMatch(/^tokens .* up to date +-$/m);
  expect(status).toMatch(/^vocabulary .* in memory +not recorded$/m);
  const doctor = await outputOf(['doctor', ...vault.flags]);
  expect(doctor).toMatch(/^STATE +CHECK +FINDING\n/);
  const [, shredder] =
    /^shredder +\d+ +- +\d+ +\d+ +(up to date|1 event to check|\d+ events to check) +not recorded$/m.exec(status) ?? [];
  expect(shredder).toBeDefined();
  expect(doctor).toContain(`tokens: up to date; directory: up to date; shredder: ${shredder}\n`);
});

test('all lists have headers in the same style', async () => {
  expect(await outputOf(['tenants', 'list', ...vault.flags])).toMatch(/^ID +NAME\n[0-9a-f-]{36} {2}\S/);
  expect(await outputOf(['applications', 'list', ...vault.flags])).toMatch(/^ID +TYPE +NAME\n[0-9a-f-]{36} {2}\S/);
  expect(await outputOf(['projections', 'list'])).toMatch(/^NAME +DESCRIPTION\ntokens +\S/);
  expect(await outputOf(['config', 'print'])).toMatch(/^SETTING +SOURCE +VALUE\nprofile +default +embedded\n/);
});
