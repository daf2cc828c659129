import { describe, expect, it } from 'vitest';
import { checkContentSize } from '#src/domain/token/fields/content-size.js';

const limit = 512 * 1024;
const around = JSON.stringify({ data: '', mask: 'x' }).length;

describe('the size of a token’s content', () => {
  it('may be exactly the limit', () => {
    expect(checkContentSize({ data: 'x'.repeat(limit - around), mask: 'x' })).toEqual({ ok: true, value: null });
  });

  it('is counted over all fields, and an error is reported for data', () => {
    const checked = checkContentSize({ data: 'x'.repeat(limit - around), mask: 'xx' });
    expect(checked.ok ? checked : Object.keys(checked.errors)).toEqual(['data']);
  });

  it('is counted in bytes, not in characters', () => {
    expect(checkContentSize({ data: 'é'.repeat(limit / 2) }).ok).toBe(false);
  });
});
