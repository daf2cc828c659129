import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { erasedLines, readErasedList } from '#src/cli/backup/erased-list.js';

function aFile(text: string | Buffer): string {
  const folder = mkdtempSync(join(tmpdir(), 'strongroom-erased-list-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'erased-keys.txt');
  writeFileSync(file, text);
  return file;
}

/** Returns the lines of a list with these ids. */
async function listOf(ids: readonly string[]): Promise<readonly string[]> {
  async function* erased() {
    yield* ids;
  }
  const keys = { logId: async () => 'log', erased };
  const lines: string[] = [];
  for await (const line of erasedLines(keys, async () => randomBytes(32).toString('hex'))) lines.push(line);
  return lines;
}

test('a list that is read in many parts contains exactly its ids, whatever the parts are', async () => {
  for (const count of [0, 1, 2, 10_000]) {
    const ids = Array.from({ length: count }, () => randomUUID());
    const lines = await listOf(ids);
    const list = await readErasedList(aFile(lines.join('')));
    expect(list.logId).toBe('log');
    expect(ids.filter((id) => !list.ids.has(id))).toEqual([]);
    expect([randomUUID(), '', 'end', lines[0] ?? ''].filter((id) => list.ids.has(id))).toEqual([]);
    if (count === 0) continue;
    const without = aFile([...lines.slice(0, -2), ...lines.slice(-1)].join(''));
    await expect(readErasedList(without)).rejects.toThrow('is not a complete list');
    await expect(readErasedList(aFile(lines.slice(0, -1).join('')))).rejects.toThrow('is not a complete list');
  }
});

test('a file that is empty or that has no lines is not a list', async () => {
  for (const text of ['', '\n', Buffer.alloc(1_000_000)]) {
    await expect(readErasedList(aFile(text))).rejects.toThrow('is not a complete list');
  }
});
