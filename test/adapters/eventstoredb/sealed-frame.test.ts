import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openSealedFrame, sealedFrame } from '#src/adapters/eventstoredb/sealed-frame.js';

const box = fc.option(fc.uint8Array({ maxLength: 2_000 }), { nil: null });
const parts = fc.record({ trace: box, sealed: fc.record({ content: box, cvc: box }) });

test('a frame returns each ciphertext unchanged, and distinguishes a missing ciphertext from an empty one', () => {
  fc.assert(
    fc.property(parts, ({ trace, sealed }) => {
      const opened = openSealedFrame(sealedFrame({ trace, sealed }));
      const bytes = [opened?.trace, opened?.sealed.content, opened?.sealed.cvc].map((b) => (b ? [...b] : b));
      expect(bytes).toEqual([trace, sealed.content, sealed.cvc].map((b) => (b === null ? null : [...b])));
    }),
  );
});

test('a frame that is truncated or has another version is rejected', () => {
  const frame = sealedFrame({ trace: null, sealed: { content: Buffer.alloc(100, 1), cvc: Buffer.alloc(10, 2) } });
  for (let length = 0; length < frame.length; length += 1) {
    expect(openSealedFrame(frame.subarray(0, length)), String(length)).toBeNull();
  }
  expect(openSealedFrame(Buffer.concat([Buffer.of(2), frame.subarray(1)]))).toBeNull();
});
