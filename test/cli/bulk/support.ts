import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { JsonObject } from '#src/domain/json.js';
import { type Ended, makeVault, run, runJson } from '../../support/process.js';

/**
 * Creates a vault, and a file with the key of its revealing application. Returns both, and the flags that an import or
 * export needs to use them.
 */
export async function vaultWithKeyFile() {
  const vault = await makeVault();
  const keyFile = join(vault.dir, 'app.key');
  writeFileSync(keyFile, `${vault.key}\n`, { mode: 0o600 });
  return { ...vault, keyFile, args: [...vault.flags, '--api-key-file', keyFile] };
}

/** This text is part of every imported value. No output may contain it. */
export const marker = 'marker-8153';

/**
 * Returns lines for generic tokens without ids. Every tenth line repeats the value of the previous line. All other
 * values are unique.
 */
export function manyLines(count: number): string {
  return Array.from({ length: count }, (_, i) => {
    const n = i % 10 === 9 ? i - 1 : i;
    return `${JSON.stringify({ type: 'token', data: { secret: `${marker}-${n}` }, metadata: { n: String(n) } })}\n`;
  }).join('');
}

/**
 * Runs an import with `--json`. Returns the printed lines and the exit code. Checks that no output contains an imported
 * value.
 */
export async function importJson(args: readonly string[], stdin?: string | Buffer) {
  const ended = await run(['tokens', 'import', ...args, '--json'], stdin === undefined ? {} : { stdin });
  expectNoMarker(ended);
  const lines = ended.stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as JsonObject);
  const { type: _, ...summary } = lines.find(({ type }) => type === 'summary') ?? {};
  const failed = lines.filter(({ type }) => type === 'failed').map(({ line, errors }) => ({ line, errors }));
  return { code: ended.code, stderr: ended.stderr, summary, failed };
}

export function expectNoMarker({ stdout, stderr }: Pick<Ended, 'stdout' | 'stderr'>): void {
  expect(stdout + stderr).not.toContain(marker);
  expect(stderr).not.toMatch(/^\s+at /m);
}

/** Exports all tokens, and returns each exported line as an object. */
export async function allRequests(args: readonly string[]): Promise<readonly JsonObject[]> {
  const { code, stdout, stderr } = await run(['tokens', 'export', '--out', '-', '--plaintext', ...args]);
  if (code !== 0) throw new Error(stderr);
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as JsonObject);
}

/**
 * Returns all tokens by id, as a search by the application returns them. Leaves out the fields that a new vault sets
 * itself.
 */
export async function allTokens(args: readonly string[]): Promise<ReadonlyMap<string, JsonObject>> {
  const tokens = new Map<string, JsonObject>();
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const found = await runJson(['tokens', 'search', '', '--size', '100', '--page', String(page), ...args]);
    pages = Number((found['pagination'] as JsonObject)['total_pages']);
    for (const { tenant_id, created_at, created_by, fingerprint, entity_ref, ...token } of found[
      'data'
    ] as JsonObject[]) {
      tokens.set(String(token['id']), token);
    }
  }
  return tokens;
}
