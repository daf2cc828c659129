import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatTimestamp, parseExpiresAt } from '#src/domain/time.js';

const earliest = Date.parse('0000-01-01T00:00:00.000Z');
const latest = Date.parse('9999-12-31T23:59:59.999Z');

describe('timestamps in responses', () => {
  it.each([
    [0, '1970-01-01T00:00:00.000+00:00'],
    [-1, '1969-12-31T23:59:59.999+00:00'],
    [Date.UTC(2026, 0, 31, 12), '2026-01-31T12:00:00.000+00:00'],
    [Date.UTC(2028, 1, 29, 23, 59, 59, 7), '2028-02-29T23:59:59.007+00:00'],
    [earliest, '0000-01-01T00:00:00.000+00:00'],
    [latest, '9999-12-31T23:59:59.999+00:00'],
  ])('%d is written as %s', (ms, text) => {
    expect(formatTimestamp(ms)).toBe(text);
  });

  it('match the calendar of the JavaScript engine, and can be sent back as expires_at', () => {
    fc.assert(
      fc.property(fc.integer({ min: earliest, max: latest }), (ms) => {
        const text = formatTimestamp(ms);
        expect(text).toBe(new Date(ms).toISOString().replace('Z', '+00:00'));
        expect(parseExpiresAt(text), text).toBe(ms);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 0.5, earliest - 1, latest + 1])(
    'throw for %d, because such a value is a bug',
    (ms) => {
      expect(() => formatTimestamp(ms)).toThrow(RangeError);
    },
  );
});
