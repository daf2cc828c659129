import { expect, test } from 'vitest';
import { decodeChanges, encodeChanges } from '#src/adapters/sqlite/journal/change-bytes.js';

const long = 'é"\\'.repeat(200);
const changes = [
  { operation: 'commit', input: { tenantId: 't', text: long, bytes: Buffer.from([1, 2, 3]) } },
  { operation: 'save_rebuild', input: null },
  { operation: 'commit', input: { tenantId: null, text: 'short', parts: [Buffer.from([4]), long, { deep: long }] } },
];

test('changes with bytes and long strings are decoded as they were encoded', () => {
  expect(decodeChanges(encodeChanges(changes))).toEqual(changes);
});

test('a change that lost bytes, or has more than it refers to, is not decoded', () => {
  const encoded = encodeChanges(changes);
  expect(() => decodeChanges(encoded.subarray(0, -1))).toThrow('bytes are missing');
  expect(() => decodeChanges(Buffer.concat([encoded, Buffer.from([0])]))).toThrow('more bytes');
});

test.each(['$bytes', '$text'])(
  'a change with a member %s is not encoded, because it would be decoded as another',
  (name) => {
    expect(() => encodeChanges([{ operation: 'commit', input: { [name]: 1 } }])).toThrow(name);
  },
);
