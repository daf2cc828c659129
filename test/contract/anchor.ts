import { describe, expect, test } from 'vitest';
import type { Anchor } from '#src/ports/anchor.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';

export type AnchorUnderTest = {
  readonly anchor: Anchor;
  /** Returns all lines that have been delivered. */
  lines(): string[];
  /** `fail(true)` makes all deliveries fail. `fail(false)` makes them succeed again. */
  fail(isBroken: boolean): void;
};

/** Defines the tests that every adapter for `Anchor` must pass. */
export function anchorContract(name: string, open: () => AnchorUnderTest): void {
  describe(`Anchor: ${name}`, () => {
    test('delivers complete lines in order', async () => {
      const { anchor, lines } = open();
      for (const line of ['{"a":1}', 'x'.repeat(300_000), '{"a":"ü"}']) await anchor.deliver(line);
      expect(lines()).toEqual(['{"a":1}', 'x'.repeat(300_000), '{"a":"ü"}']);
    });

    test('reports a failure, and delivers the line when it gets the line again', async () => {
      const { anchor, lines, fail } = open();
      await anchor.deliver('{"a":1}');
      fail(true);
      await expect(anchor.deliver('{"a":2}')).rejects.toThrow(StoreUnavailable);
      fail(false);
      await anchor.deliver('{"a":2}');
      expect(lines()).toEqual(['{"a":1}', '{"a":2}']);
    });
  });
}
