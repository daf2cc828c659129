import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { filesOf, findTexts, formsOf } from './files.js';

test('the search through files finds a string in each supported form, and nothing else', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'strongroom-search-'));
  const marker = 'märker-"\\-7f3a91c2';
  for (const { form, bytes } of formsOf(marker)) {
    await writeFile(join(folder, 'file'), Buffer.concat([Buffer.from([0, 255, 34]), bytes, Buffer.from([7])]));
    expect(findTexts(filesOf(folder), { marker }).length, form).toBeGreaterThan(0);
  }
  for (const before of ['', 'x', 'xy', 'xyz']) {
    await writeFile(join(folder, 'file'), Buffer.from(`${before}${marker}and more`).toString('base64'));
    expect(findTexts(filesOf(folder), { marker }), before).not.toEqual([]);
  }
  await writeFile(join(folder, 'file'), 'märker-"\\-7f3a91c3');
  expect(findTexts(filesOf(folder), { marker })).toEqual([]);
  await rm(folder, { recursive: true });
});

test('every file is read, whatever it contains', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'strongroom-search-'));
  const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, at) => (at * 31) % 256));
  await mkdir(join(folder, 'folder'));
  await writeFile(join(folder, 'a file'), bytes);
  await writeFile(join(folder, 'empty'), '');
  await writeFile(join(folder, 'folder', 'last'), 'x\n');
  const found = filesOf(folder).map(({ name, content }) => [name, content.toString('latin1')]);
  expect(Object.fromEntries(found)).toEqual({ 'a file': bytes.toString('latin1'), empty: '', last: 'x\n' });
  await rm(folder, { recursive: true });
});
