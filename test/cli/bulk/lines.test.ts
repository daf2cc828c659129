import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { readLines } from '#src/cli/files/read-lines.js';
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
