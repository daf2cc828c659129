import { expect, test } from 'vitest';
import { table } from '#src/cli/table.js';

test('the header is in capitals, text is left-aligned, and numbers are right-aligned', () => {
  const lines = table(
    ['name', 'position', 'last error'],
    [
      ['tokens', 12_345, '-'],
      ['directory', 7, 'failed'],
      ['vocabulary', null, null],
    ],
  );
  expect(lines).toEqual([
    'NAME        POSITION  LAST ERROR',
    'tokens         12345  -',
    'directory          7  failed',
    'vocabulary         -  -',
  ]);
});

test('a table without rows consists only of its header', () => {
  expect(table(['id', 'name'], [])).toEqual(['ID  NAME']);
});

test('minimum widths keep the parts of a long table aligned', () => {
  expect(table(['id', 'name'], [['a', 'b']], [6])).toEqual(['ID      NAME', 'a       b']);
});
