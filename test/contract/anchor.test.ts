import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { commandAnchor } from '#src/adapters/anchor/command-anchor.js';
import { fileAnchor } from '#src/adapters/anchor/file-anchor.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { flushedPaths } from '../support/flushed-paths.js';
import { type AnchorUnderTest, anchorContract } from './anchor.js';

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'strongroom-anchor-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return dir;
}

const linesOf = (file: string): string[] => readFileSync(file, 'utf8').split('\n').slice(0, -1);

function fileUnderTest(): AnchorUnderTest {
  const dir = join(folder(), 'sub');
  const away = `${dir}-away`;
  const file = join(dir, 'anchor.jsonl');
  mkdirSync(dir);
  return {
    anchor: fileAnchor(file),
    lines: () => linesOf(file),
    fail: (isBroken) => (isBroken ? renameSync(dir, away) : renameSync(away, dir)),
  };
}

function commandUnderTest(): AnchorUnderTest {
  const dir = folder();
  const [file, broken] = [join(dir, 'lines'), join(dir, 'broken')];
  const script = `
    const { appendFileSync, existsSync, readFileSync } = require('node:fs');
    const line = readFileSync(0);
    if (existsSync(process.argv[2])) process.exit(7);
    appendFileSync(process.argv[1], line);`;
  return {
    // On a busy machine, Node.js takes seconds to start.
    anchor: commandAnchor([process.execPath, '-e', script, file, broken], 60_000),
    lines: () => linesOf(file),
    fail: (isBroken) => (isBroken ? writeFileSync(broken, '') : rmSync(broken)),
  };
}

anchorContract('a file', fileUnderTest);
anchorContract('a command', commandUnderTest);

test('a file is created so that only its owner can access it, and a truncated line does not damage other lines', async () => {
  const file = join(folder(), 'anchor.jsonl');
  const anchor = fileAnchor(file);
  await anchor.deliver('{"whole":1}');
  appendFileSync(file, '{"cut sho');
  await anchor.deliver('{"next":1}');
  expect(linesOf(file)).toEqual(['{"whole":1}', '{"cut sho', '{"next":1}']);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test.runIf(process.platform === 'linux')('a delivered line is on disk, and so is the name of a new file', async () => {
  const file = join(folder(), 'anchor.jsonl');
  const flushed = await flushedPaths((path) => [path, readFileSync(file, 'utf8')]);
  await fileAnchor(file).deliver('{"line":1}');
  expect(flushed).toEqual([
    [file, '{"line":1}\n'],
    [dirname(file), '{"line":1}\n'],
  ]);
  // A directory that this user cannot read or flush does not prevent later lines.
  await fileAnchor(file).deliver('{"next":1}');
  expect(flushed.slice(2)).toEqual([[file, '{"line":1}\n{"next":1}\n']]);
});

test('a file with other content, such as the root key, is not changed', async () => {
  const file = join(folder(), 'root.key');
  const key = `${'0f'.repeat(32)}\n`;
  writeFileSync(file, key);
  const wrong = { store: 'audit anchor', reason: 'not_an_anchor_file' };
  await expect(fileAnchor(file).deliver('{"line":1}')).rejects.toMatchObject(wrong);
  expect(readFileSync(file, 'utf8')).toBe(key);
});

test.each([
  ['that does not exist', ['/no/such/program']],
  ['that never exits', [process.execPath, '-e', 'setInterval(() => {}, 1000)']],
] as const)('a command %s fails', async (_, [program, ...args]) => {
  await expect(commandAnchor([program, ...args], 200).deliver('line')).rejects.toThrow(StoreUnavailable);
});

test('a delivery to a file system that hangs fails, and no other delivery begins until the hang ends', async () => {
  const file = join(folder(), 'anchor.jsonl');
  const anchor = fileAnchor(file, 200);
  await anchor.deliver('{"line":1}');
  const handle = await open('/dev/null', 'r');
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  let end: () => void = () => undefined;
  const hang = new Promise<void>((resolve) => {
    end = resolve;
  });
  const hanging = vi.spyOn(prototype, 'sync').mockReturnValue(hang);
  onTestFinished(() => hanging.mockRestore());
  const failed = { store: 'audit anchor', reason: 'no_answer' };
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await expect(anchor.deliver('{"line":2}')).rejects.toMatchObject(failed);
  }
  expect(linesOf(file)).toEqual(['{"line":1}', '{"line":2}']);
  hanging.mockRestore();
  end();
  await expect.poll(() => anchor.deliver('{"line":3}').then(() => linesOf(file).at(-1))).toBe('{"line":3}');
});
