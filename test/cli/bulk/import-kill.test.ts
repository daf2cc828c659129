import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import type { JsonObject } from '#src/domain/json.js';
import { http, jsonResult, spawnCommand, startService, until } from '../../support/process.js';
import { allRequests, expectNoMarker, importJson, manyLines, vaultWithKeyFile } from './support.js';

const lines = 1_500;

async function filledVault() {
  const vault = await vaultWithKeyFile();
  const file = join(vault.dir, 'in.ndjson');
  writeFileSync(file, manyLines(lines));
  return { ...vault, file };
}

/**
 * Starts to import the first lines of the file, and leaves standard input open, so the import cannot end before the
 * test stops it.
 */
function startImport(file: string, count: number, args: readonly string[]) {
  return spawnCommand(['tokens', 'import', '-', '--resume-file', `${file}.resume`, ...args], {
    stdin: manyLines(count),
    keepsInputOpen: true,
  });
}

/** Counts the tokens that are committed. The write-ahead log grows before a commit. */
function storedTokens(dataDir: string): number {
  const database = pinStatements(join(dataDir, 'vault.db'), { readonly: true });
  try {
    return Number(database.prepare(`SELECT count(*) FROM events WHERE type = 'token.created'`).pluck().get());
  } finally {
    database.close();
  }
}

/**
 * Runs the import again. Checks that some tokens already exist, that the import creates the rest, and that each line
 * then has exactly one token.
 */
async function expectExactlyOnce(file: string, args: readonly string[]): Promise<void> {
  const { code, summary, stderr } = await importJson([file, ...args]);
  expect({ code, ...summary }, stderr).toMatchObject({ code: 0, failed: 0, deduplicated: 0 });
  expect(Number(summary['skipped'])).toBeGreaterThan(0);
  expect(Number(summary['created'])).toBeGreaterThan(0);
  expect(Number(summary['created']) + Number(summary['skipped'])).toBe(lines);
  const values = new Map<string, number>();
  for (const { data } of await allRequests(args)) {
    const { secret } = data as JsonObject;
    values.set(String(secret), (values.get(String(secret)) ?? 0) + 1);
  }
  const expected = new Map<string, number>();
  for (const line of manyLines(lines).trim().split('\n')) {
    const { secret } = JSON.parse(line).data;
    expected.set(secret, (expected.get(secret) ?? 0) + 1);
  }
  expect(values).toEqual(expected);
}

test('after two imports were killed, a third one completes the file with exactly one token per line', async () => {
  const { args, dataDir, file } = await filledVault();
  for (const count of [500, 1_000]) {
    const before = storedTokens(dataDir);
    const importer = startImport(file, count, args);
    await until('some tokens', 60_000, () => (storedTokens(dataDir) > before ? true : undefined));
    const ended = await importer.stop('SIGKILL');
    expect(ended.signal).toBe('SIGKILL');
    expectNoMarker(ended);
  }
  await expectExactlyOnce(file, args);
});

test('if the service is killed during an import, the command explains how to continue, and a second run completes the import', async () => {
  const { args, flags, file, key } = await filledVault();
  let service = await startService(flags);
  const importer = startImport(file, 1_000, args);
  await until('some tokens', 60_000, async () => {
    const { body } = await http('GET', `${service.address}/tokens?size=1`, { key });
    return Number((body['pagination'] as JsonObject)['total_items']) > 100 ? true : undefined;
  });
  await service.stop('SIGKILL');
  importer.endInput();
  const ended = await importer.ended;
  expectNoMarker(ended);
  expect(ended).toMatchObject({ code: 1, stdout: expect.stringMatching(/^created \d+, skipped 0/) });
  expect(ended.stderr).toMatch(/the service .*stopped.*run the same command again/s);
  service = await startService(flags);
  await expectExactlyOnce(file, args);
  expect(service.stdout()).not.toContain('a command failed');
});

test('Ctrl-C makes the import finish the current lines, print the summary and explain how to continue', async () => {
  const { args, dataDir, file } = await filledVault();
  const importer = startImport(file, 1_000, [...args, '--json']);
  await until('some tokens', 60_000, () => (storedTokens(dataDir) > 0 ? true : undefined));
  const ended = await importer.stop('SIGINT');
  expectNoMarker(ended);
  expect(ended).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^interrupted\. To continue, run the same command/),
  });
  const { complete, created } = jsonResult(ended);
  expect(complete).toBe(false);
  expect(await allRequests(args)).toHaveLength(Number(created));
  await expectExactlyOnce(file, args);
});
