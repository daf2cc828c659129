import { describe, expect, test } from 'vitest';
import type { DerivedKind } from '#src/ports/erasure-probe.js';
import {
  aHash,
  atNoon,
  change,
  noTokenYet,
  type OpenStores,
  onStores,
  tokenCreated,
  tokenDeleted,
  tokenWrite,
} from './support.js';

/** Defines the tests that every adapter for `ErasureProbe` must pass. */
export function erasureProbeContract(name: string, open: OpenStores): void {
  describe(`ErasureProbe: ${name}`, () => {
    test(
      'all data derived from a token is found while the token lives, and none is found afterwards',
      onStores(open, async ({ work, log, erasureProbe }) => {
        const aTerm = () => aHash().slice(0, 32);
        const write = tokenWrite(noTokenYet(), [tokenCreated({ expiresAt: atNoon + 5 })], {
          index: { fingerprintHash: aHash(), terms: [aTerm(), aTerm()] },
        });
        const other = tokenWrite(noTokenYet(), [tokenCreated({ expiresAt: atNoon + 6 })], {
          index: { fingerprintHash: aHash(), terms: [aTerm()] },
        });
        await work.commit(change(write));
        await work.commit(change(other));
        const of = async (stream: string) => {
          const created = (await log.readStream(stream)).filter(({ type }) => type === 'token.created');
          return erasureProbe.of({ stream, created: created.map(({ position }) => position) });
        };
        const kindsIn = async (stream: string) => {
          const found = (await of(stream)).filter((one) => one.found > 0).map(({ kind }) => kind);
          return [...new Set(found)].sort();
        };
        const all: DerivedKind[] = ['deadline', 'fingerprint', 'row', 'search_term'];
        expect(await kindsIn(write.stream)).toEqual(all);
        await work.commit(change(tokenWrite(write.view, [tokenDeleted()], { index: 'keep' })));
        expect(await kindsIn(write.stream)).toEqual([]);
        const looked = await of(write.stream);
        expect([...new Set(looked.map(({ kind }) => kind))].sort()).toEqual(all);
        expect(
          looked.find(({ kind, looked: at }) => kind === 'row' && at > 0),
          'the tombstone',
        ).toBeDefined();
        expect(await kindsIn(other.stream)).toEqual(all);
        expect(await kindsIn(noTokenYet().stream)).toEqual([]);
      }),
    );
  });
}
