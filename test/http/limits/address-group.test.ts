import { expect, test } from 'vitest';
import { addressGroup } from '#src/http/limits/limits.js';

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::FFFF:203.0.113.7', '203.0.113.7'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['2001:0DB8:0:0::1', '2001:db8:0:0'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['::1', '0:0:0:0'],
  ['::', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['1:2:3:4:5:6:7::', '1:2:3:4'],
  ['1:2::5:6:7:8', '1:2:0:0'],
  ['', ''],
])('the address %s counts as %s', (address, group) => {
  expect(addressGroup(address)).toBe(group);
});
