import { describe, expect, it } from 'vitest';
import { openness, strictest, type Transform, transforms } from '#src/domain/access/transform.js';

const all: readonly (Transform | null)[] = [null, ...transforms];
const pairs = all.flatMap((one) => all.map((other) => [one, other] as const));

describe('the order none < redact < mask < reveal', () => {
  it('is the order from strict to open', () => {
    expect([...all].sort((a, b) => openness(a) - openness(b))).toEqual([null, 'redact', 'mask', 'reveal']);
  });

  it.each(pairs)('the stricter one of %s and %s does not depend on their order', (one, other) => {
    expect(strictest(one, other)).toBe(strictest(other, one));
    expect(openness(strictest(one, other))).toBe(Math.min(openness(one), openness(other)));
  });
});
