import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { describe, expect, it, vi } from 'vitest';
import { randomForCommand } from '#src/commands/derived-random.js';

const unused = () => {
  throw new Error('the own chance of the vault was asked');
};
const chance = (cmd: string) =>
  randomForCommand({ uuid: unused, integer: unused, bytes: unused }, Buffer.alloc(32, 1), cmd);

describe('randomness derived from an idempotency key', () => {
  it('is the same for the same key, and different for another key', () => {
    const draws = (cmd: string) => {
      const random = chance(cmd);
      return [random.uuid(), ...Array.from({ length: 50 }, () => random.integer(1_000_000)), random.uuid()];
    };
    expect(draws('a')).toEqual(draws('a'));
    expect(draws('a')).not.toEqual(draws('b'));
    expect(draws('a')[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(draws('a')[0]).not.toBe(draws('a')[51]);
  });

  it('needs few hashes for the many characters of an alias, so no request blocks the process', () => {
    const hash = vi.spyOn(crypto, 'hash');
    syncBuiltinESMExports();
    const random = chance('a');
    for (let drawn = 0; drawn < 4_000; drawn++) random.integer(36);
    // Each HMAC calls the hash function twice.
    const hashes = hash.mock.calls.length / 2;
    hash.mockRestore();
    syncBuiltinESMExports();
    expect(hashes).toBeGreaterThan(100);
    expect(hashes).toBeLessThan(200);
  });

  it.each([3, 10, 26, 36, 256, 257, 1_000])('draws all numbers below %i about equally often', (maxExclusive) => {
    const random = chance('a');
    const expected = 200;
    const counts = new Array<number>(maxExclusive).fill(0);
    for (let drawn = 0; drawn < maxExclusive * expected; drawn++) {
      const number = random.integer(maxExclusive);
      counts[number] = (counts[number] ?? 0) + 1;
    }
    expect(counts).toHaveLength(maxExclusive);
    const chiSquared = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
    // The numbers are derived from a fixed key, so the result of this test is the same in every run. The tolerance is
    // six standard deviations.
    expect(chiSquared).toBeLessThan(maxExclusive + 6 * Math.sqrt(2 * maxExclusive));
  });
});
