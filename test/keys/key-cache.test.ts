import { afterEach, expect, test, vi } from 'vitest';
import { createKeyCache } from '#src/keys/key-cache.js';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

function newKey(): Buffer {
  return Buffer.alloc(32, 7);
}

const zeroed = Buffer.alloc(32);

test('a key is zeroed when it leaves the cache', () => {
  const cache = createKeyCache();
  const [destroyed, replaced, ofTenant, last] = [newKey(), newKey(), newKey(), newKey()];
  cache.add('one', 'destroyed', destroyed, null);
  cache.add('one', 'replaced', replaced, null);
  cache.add('two', 'of-tenant', ofTenant, null);
  cache.drop('destroyed');
  cache.add('one', 'replaced', last, 1);
  cache.dropTenant('two');
  expect([destroyed, replaced, ofTenant]).toEqual([zeroed, zeroed, zeroed]);
  expect(cache.get('one', 'replaced')).toEqual({ tenantId: 'one', key: newKey(), revision: 1 });
  cache.close();
  expect(last).toEqual(zeroed);
});

test('a key that is being read while it is destroyed is not cached', () => {
  const cache = createKeyCache();
  const keep = cache.reading('one', 'key');
  cache.drop('key');
  expect(keep({ key: newKey(), revision: null })).toBe(false);
  expect(cache.get('one', 'key')).toBeUndefined();
  cache.close();
});

test('the cache keeps 10,000 keys, and zeroes the least recently used one when it needs space', () => {
  const cache = createKeyCache();
  const [first, second] = [newKey(), newKey()];
  cache.add('one', 'first', first, null);
  cache.add('one', 'second', second, null);
  cache.get('one', 'first');
  for (let n = 0; n < 9_999; n += 1) cache.add('one', String(n), newKey(), null);
  expect(second).toEqual(zeroed);
  expect(cache.get('one', 'first')?.key).toEqual(newKey());
  cache.close();
});

test('a key is zeroed within one minute, whether or not it is used', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  let now = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const waitASecond = (): void => {
    now += 1_000;
    vi.advanceTimersByTime(1_000);
  };
  const cache = createKeyCache();
  const [used, unused] = [newKey(), newKey()];
  cache.add('one', 'used', used, null);
  cache.add('one', 'unused', unused, null);
  for (let second = 0; second < 40; second += 1) {
    waitASecond();
    expect(cache.get('one', 'used')?.key).toEqual(newKey());
  }
  for (let second = 40; second < 60; second += 1) waitASecond();
  expect([used, unused]).toEqual([zeroed, zeroed]);
  cache.close();
});
