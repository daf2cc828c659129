import { describe, expect, it } from 'vitest';
import { formatTimestamp, parseBound } from '#src/domain/time.js';

describe('a bound of a period between two milliseconds', () => {
  it('is the second of them', () => {
    expect(parseBound('2026-01-31T12:00:00.0001Z')).toBe(Date.UTC(2026, 0, 31, 12, 0, 0, 1));
    expect(parseBound('2026-01-31T12:00:00.0000Z')).toBe(Date.UTC(2026, 0, 31, 12));
  });

  it('is never after the year 9999, because no such time can be shown', () => {
    // The latest times of .NET, Java and PostgreSQL.
    for (const fraction of ['.9999999', '.999999999', '.999999', '.999']) {
      const bound = parseBound(`9999-12-31T23:59:59${fraction}Z`);
      expect(formatTimestamp(bound ?? 0)).toBe('9999-12-31T23:59:59.999+00:00');
    }
  });
});
