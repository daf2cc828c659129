import { expect, test } from 'vitest';
import { errorsBeside, listOf } from '#src/console/token-form.js';

test('the lines of a list are counted once, even if many of them have errors', () => {
  let reads = 0;
  const lines = {
    get containers() {
      reads += 1;
      return ' /a/ \r\n\r\nb\r\nc\r\n \r\nd';
    },
  };
  const errors = { 'containers[1]': ['is wrong'], 'containers[2]': ['is wrong'], 'containers[3]': ['is wrong'] };
  expect(errorsBeside(errors, lines)).toEqual({
    containers: 'Line 3: this is wrong. Line 4: this is wrong. Line 6: this is wrong.',
  });
  expect(reads).toBe(1);
  expect(listOf(lines.containers)).toEqual(['/a/', 'b', 'c', 'd']);
});
