import { expect, test } from 'vitest';
import { parseTypedTime } from '#src/console/typed-time.js';

test('a bound between two milliseconds means the same in the console as in the API', () => {
  const at = Date.UTC(2026, 0, 31, 12);
  expect(parseTypedTime('2026-01-31T12:00:00.0000Z')).toBe(at);
  expect(parseTypedTime('2026-01-31T12:00:00.0001Z')).toBe(at + 1);
});
