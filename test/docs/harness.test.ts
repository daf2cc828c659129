import { expect, test } from 'vitest';
import { parseBlocks } from './blocks.js';
import { differences, masked } from './compare.js';
import { followBlock } from './follow-block.js';
import { newReader } from './reader.js';

const fence = '```';
const blockOf = (language: string, text: string) => {
  const [block] = parseBlocks('page.md', `# Page\n\n${fence}${language}\n${text}\n${fence}\n`);
  if (block === undefined) throw new Error('no block found');
  return block;
};

test('a block fails if no rule covers it, if its script fails, or if its request is rejected', {
  timeout: 300_000,
}, async () => {
  const reader = await newReader();
  try {
    const wrongOf = async (language: string, text: string) =>
      (await followBlock(blockOf(language, text), reader, null)).wrong.join('\n');
    expect(await wrongOf('toml', 'a = 1')).toMatch(/^page\.md:3: no rule covers a block of `toml`/);
    expect(await wrongOf('yaml', 'service: { typ: ClusterIP }')).toMatch(
      /^page\.md:3: the chart has no value service\.typ/,
    );
    expect(await wrongOf('yaml', 'service: { type: ClusterIP }')).toBe('');
    expect(await wrongOf('', 'a')).toMatch(/^page\.md:3: no rule covers/);
    expect(await wrongOf('text', 'output of nothing')).toMatch(/^page\.md:3: no rule covers/);
    expect(await wrongOf('sh', 'false\ntrue')).toMatch(/^page\.md:3: failed/);
    expect(await wrongOf('sh', 'curl -sS http://127.0.0.1:8080/health/live')).toMatch(/failed.*connect/s);
    expect(await wrongOf('json', '{ "prot": 8080 }')).toMatch(/page\.md:3: is neither.*port/s);
    expect(await wrongOf('ts', 'export const nothingOfTheKind = 1;')).toMatch(/stands in no file/);
    expect(await wrongOf('sh', 'A=1')).toBe('');
    expect(await wrongOf('sh', '[ "$A" = 1 ]')).toBe('');
  } finally {
    await reader.close();
  }
});

test('responses are compared by keys, types, members and fixed values, and each id stands for one real id throughout', () => {
  const [one, two] = ['f2d07b4a-5fd6-4dd0-93d9-2b5d5b0a3f4b', '1255abe4-56ce-48c5-926e-d06322349614'];
  const compare = (said: unknown, real: unknown) => differences(said, real, new Map());
  expect(compare({ id: one, n: 1 }, { n: 1, id: two })).toEqual([]);
  expect(compare({ a: 1 }, { b: 1 })).toEqual(['answer.a is on the page alone', 'answer.b is not on the page']);
  expect(compare({ a: [1] }, { a: [1, 2] })).toEqual(['answer.a has 2 members, not 1']);
  expect(compare({ a: '1' }, { a: 1 })).toEqual(['answer.a is 1, not "1"']);
  expect(compare('x', 'y')).toEqual(['answer is "y", not "x"']);
  expect(compare([one, one], [one, two])).toEqual([expect.stringContaining('answer[1]')]);
  const ids = new Map<string, string>();
  differences({ id: one }, { id: two }, ids);
  expect(ids.get(one)).toBe(two);
});

test('only values that change with every run are masked', () => {
  expect(masked('at 2026-01-31T12:00:00.000+00:00 on http://127.0.0.1:8080 by sr_private_abc')).toBe(
    'at <time> on http://127.0.0.1:<port> by sr_private_<key>',
  );
  expect(masked('123-45-6789')).toBe('123-45-6789');
});

test('indented code and an unclosed fence are rejected with their line', () => {
  expect(() => parseBlocks('page.md', 'a\n\n    code\n')).toThrow('page.md:3');
  expect(() => parseBlocks('page.md', `a\n${fence}sh\ncode\n`)).toThrow('page.md:2');
});
