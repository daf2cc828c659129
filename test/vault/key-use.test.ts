import { expect, test } from 'vitest';
import { createKeyUse } from '#src/vault/authenticate.js';

test('if a key is used constantly, its last use is written once per minute, and a lost write is retried', async () => {
  const stored = new Map<string, number>();
  const written: string[] = [];
  let fails = false;
  const noteUse = createKeyUse({
    keyUsedIn: async (hash) => stored.get(hash) ?? null,
    markKeyUsed: async (hash, minute) => {
      written.push(`${hash} ${minute}`);
      if (fails) throw new Error('the store is down');
      stored.set(hash, minute);
    },
  });
  for (let ms = 0; ms < 180_000; ms += 1_000) await noteUse('a', ms);
  await noteUse('b', 5_000);
  expect(written).toEqual(['a 0', 'a 1', 'a 2', 'b 0']);
  await new Promise(setImmediate);
  fails = true;
  await noteUse('b', 65_000);
  await new Promise(setImmediate);
  fails = false;
  await noteUse('b', 66_000);
  expect(written.slice(4)).toEqual(['b 1', 'b 1']);
});
