import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { Failure } from '#src/cli/failure.js';
import { readLines } from '#src/cli/files/read-lines.js';
import { importLines } from '#src/cli/tokens/import-lines.js';
import type { ImportOutcome } from '#src/cli/tokens/import-operation.js';
import { createLineIds, resumeSecret } from '#src/cli/tokens/line-ids.js';

async function linesOf(bytes: Buffer, cuts: readonly number[], bytesMax: number) {
  async function* chunks() {
    let start = 0;
    for (const cut of [...cuts, bytes.length].sort((a, b) => a - b)) {
      yield bytes.subarray(start, Math.min(cut, bytes.length));
      start = Math.min(cut, bytes.length);
    }
  }
  const lines: (readonly [number, string | null])[] = [];
  for await (const { number, bytes: line } of readLines(chunks(), bytesMax)) {
    lines.push([number, line === null ? null : line.toString()]);
  }
  return lines;
}

test('the lines are the same however the bytes are split, and blank lines are counted', async () => {
  const line = fc.array(fc.constantFrom('a', 'é', ' ', '\t', '"'), { maxLength: 12 }).map((parts) => parts.join(''));
  const cuts = fc.array(fc.nat(100), { maxLength: 8 });
  const given = [fc.array(line, { maxLength: 8 }), cuts, fc.constantFrom('\n', '\r\n'), fc.boolean()] as const;
  await fc.assert(
    fc.asyncProperty(...given, async (lines, cutAt, end, hasMark) => {
      const bytes = Buffer.from(`${hasMark ? '\uFEFF' : ''}${lines.join(end)}`);
      const shown = lines.map((text, i) => [i + 1, text.replaceAll(/^[ \t]+|[ \t]+$/g, '')] as const);
      expect(await linesOf(bytes, cutAt, 1_000)).toEqual(shown.filter(([, text]) => text !== ''));
    }),
  );
});

test('a line that is too long is dropped, however the bytes are split, and the lines around it are read', async () => {
  const bytes = Buffer.from(`first\n${'x'.repeat(40)}\n${'y'.repeat(10)}\r\n${'z'.repeat(11)}`);
  for (let cut = 0; cut < bytes.length; cut += 1) {
    expect(await linesOf(bytes, [cut], 10)).toEqual([
      [1, 'first'],
      [2, null],
      [3, 'y'.repeat(10)],
      [4, null],
    ]);
  }
});

/** Imports `count` lines of `size` bytes each. `run` imports one batch. Returns the size of each batch, in bytes. */
async function importOf(
  count: number,
  size: number,
  run: (items: number) => Promise<void>,
  isInterrupted = () => false,
) {
  async function* lines() {
    for (let number = 1; number <= count; number += 1) {
      const request = JSON.stringify({ id: `line-${number}`, type: 'token', data: 'x'.repeat(size) });
      yield { number, bytes: Buffer.from(request) };
    }
  }
  const counts = { created: 0, skipped: 0, deduplicated: 0, failed: 0 };
  const batches: number[] = [];
  const stopped = await importLines(lines(), {
    // The import uses only one operation, whose answer has this form.
    run: (async (_name: string, input: { readonly items: readonly unknown[] }) => {
      batches.push(JSON.stringify(input).length);
      await run(input.items.length);
      return { outcomes: input.items.map((): ImportOutcome => ({ kind: 'created' })) };
    }) as Parameters<typeof importLines>[1]['run'],
    key: 'key',
    strict: false,
    idOf: null,
    isInterrupted,
    onFailed: () => expect.unreachable('a line failed'),
    counts,
  });
  return { stopped, counts, batches };
}

test('an import sends long lines in batches that are smaller than the body limit of the control socket', async () => {
  const { counts, batches } = await importOf(40, 900_000, async () => undefined);
  expect(counts).toMatchObject({ created: 40 });
  expect(Math.max(...batches)).toBeLessThan(8 * 1024 * 1024);
});

test('an import sends one batch if the application may not import, and ends with an unexpected error', async () => {
  const refusals: number[] = [];
  const refused = await importOf(1_000, 10, async (items) => {
    refusals.push(items);
    await new Promise(setImmediate);
    throw new Failure('the application does not hold token:create.');
  });
  expect(refused).toMatchObject({ stopped: 'the application does not hold token:create.', counts: { created: 0 } });
  expect(refusals, 'each refusal is an entry in the access log').toHaveLength(1);
  await expect(importOf(10, 10, () => Promise.reject(new TypeError('a bug')))).rejects.toThrow('a bug');
});

test('an import that is interrupted sends no further lines, and waits for those in progress', async () => {
  let isInterrupted = false;
  let begun = 0;
  let ended = 0;
  const { counts, batches } = await importOf(
    1_000,
    10,
    async (items) => {
      begun += items;
      if (begun > items) isInterrupted = true;
      await new Promise(setImmediate);
      ended += items;
    },
    () => isInterrupted,
  );
  expect(batches).toHaveLength(2);
  expect([ended, counts.created]).toEqual([begun, begun]);
});

test('an id depends on the line and on how often the line occurred before, not on its position', () => {
  const secret = randomBytes(32);
  const idsOf = (lines: readonly string[], key = secret) => {
    const idOf = createLineIds(key);
    return lines.map((line) => idOf(Buffer.from(line)));
  };
  const [a1, b1, a2] = idsOf(['a', 'b', 'a']);
  expect(idsOf(['b', 'new', 'a', 'a'])).toEqual([b1, expect.any(String), a1, a2]);
  expect(new Set([a1, b1, a2]).size).toBe(3);
  expect(idsOf(['a'], randomBytes(32))).not.toEqual([a1]);
  const many = idsOf(Array.from({ length: 2_000 }, (_, i) => String(i)));
  const shape = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  expect(many.filter((id) => !shape.test(id ?? '') || /\d{6}/.test((id ?? '').replaceAll('-', '')))).toEqual([]);
});

test('a resume file is created once, and no other file is used or changed in its place', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'strongroom-resume-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const file = join(dir, 'resume');
  const [one, other] = await Promise.all([resumeSecret(file), resumeSecret(file)]);
  expect(one).toHaveLength(32);
  expect(other).toEqual(one);
  expect(await resumeSecret(file)).toEqual(one);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const wrong = join(dir, 'wrong');
  for (const text of [`another file\n${'0'.repeat(64)}\n`, 'strongroom import 1\n00\n', '']) {
    writeFileSync(wrong, text);
    await expect(resumeSecret(wrong)).rejects.toThrow('is not the resume file of an import');
    expect(readFileSync(wrong, 'utf8')).toBe(text);
  }
  const link = join(dir, 'link');
  symlinkSync(join(dir, 'missing'), link);
  await expect(resumeSecret(link)).rejects.toThrow('is a symbolic link to a missing file');
});
