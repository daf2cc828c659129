import { expect, test } from 'vitest';
import { counted, grouped } from '#src/domain/text.js';

test.each([
  [0, '0 events'],
  [1, '1 event'],
  [2, '2 events'],
  [1_234, '1,234 events'],
  [1_000_001, '1,000,001 events'],
])('the count %i is written as %s', (count, text) => {
  expect(counted(count, 'event')).toBe(text);
});

test('an irregular plural can be given', () => {
  expect([counted(0, 'batch', 'batches'), counted(1, 'batch', 'batches'), counted(2, 'batch', 'batches')]).toEqual([
    '0 batches',
    '1 batch',
    '2 batches',
  ]);
});

test('thousands are separated in the same way in every locale', () => {
  expect(grouped(1_234_567)).toBe('1,234,567');
});
