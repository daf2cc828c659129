import { expect, test } from 'vitest';
import { type Progress, progressText } from '#src/cli/files/progress.js';

const at = (given: Partial<Progress>): Progress => ({
  items: 0,
  done: 0,
  total: null,
  phase: null,
  fields: {},
  ...given,
});

test('a percentage, a rate and the time left are shown while the items are processed', () => {
  expect(progressText(at({ items: 1_200, done: 25, total: 100 }), 3, 'line')).toBe('1,200 lines, 25%, 400/s, 9 s left');
  expect(progressText(at({ items: 1, done: 1, total: 100 }), 1, 'line')).toBe(
    '1 line, 1%, 1/s, 99 s left'.replace('99 s', '2 min'),
  );
  expect(progressText(at({ items: 12 }), 3, 'token')).toBe('12 tokens, 4/s');
  expect(progressText(at({ total: 100 }), 3, 'line')).toBe('0 lines, 0%, 0/s');
});

test('if a phase is given, it replaces the percentage, rate and time, so that work that continues never shows 100% or 0 s left', () => {
  const phase = 'storing the last lines';
  expect(progressText(at({ items: 1_200, done: 100, total: 100, phase }), 3, 'line')).toBe(`1,200 lines, ${phase}`);
  expect(progressText(at({ phase: 'verifying the log' }), 3, 'file')).toBe('verifying the log');
});

test('no input produces 100% or 0 s left', () => {
  for (const done of [0, 1, 50, 99, 99.99, 100, 250]) {
    for (const seconds of [0, 0.001, 1, 10_000]) {
      const text = progressText(at({ items: done, done, total: 100 }), seconds, 'event');
      expect(text).not.toMatch(/100%|(?<!\d)0 s left/);
    }
  }
});
