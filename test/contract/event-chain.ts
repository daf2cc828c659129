import { describe, expect, test } from 'vitest';
import { endsCommit, linkAfter, noLink } from '#src/events/commit.js';
import type { EventLog } from '#src/ports/event-log.js';
import { aBox, anEvent, aStream, type ContractStores, type OpenStores, onStores } from './support.js';

/** Defines the tests that every adapter for `EventChain` must pass. */
export function eventChainContract(name: string, open: OpenStores): void {
  const on = (run: (stores: ContractStores) => Promise<void>) => onStores(open, run);

  describe(`EventChain: ${name}`, () => {
    test(
      'an empty log has no links',
      on(async ({ chain }) => {
        await chain.follow();
        expect(await chain.head()).toBeNull();
        expect(await chain.after(0, 10)).toEqual([]);
      }),
    );

    test(
      'each commit has one link, and links are counted from 1, even with concurrent writers',
      on(async ({ log, chain, reopen }) => {
        await log.append(aStream(), -1, [anEvent({ trace: aBox(), sealed: { content: aBox(), cvc: aBox() } })]);
        const racers = Array.from({ length: 20 }, () => aStream());
        await Promise.all(racers.flatMap((stream) => [0, 1].map(() => log.append(stream, -1, [anEvent(), anEvent()]))));
        await chain.follow();
        const expected = await recomputed(log);
        expect(expected).toHaveLength(21);
        expect((await chain.after(0, 100)).map(plain)).toEqual(expected);
        expect(plain(await chain.head())).toEqual(expected.at(-1));
        const again = await reopen();
        await again.log.append(aStream(), -1, [anEvent()]);
        await again.chain.follow();
        expect((await again.chain.after(0, 100)).map(plain)).toEqual(await recomputed(again.log));
      }),
    );

    test(
      'a page begins after the given position and ends at the limit',
      on(async ({ log, chain }) => {
        for (let count = 0; count < 3; count += 1) await log.append(aStream(), -1, [anEvent(), anEvent()]);
        await chain.follow();
        const all = await chain.after(0, 10);
        expect((await chain.after(all[0]?.position ?? 0, 1)).map(plain)).toEqual([plain(all[1] ?? null)]);
        expect(await chain.after(all[2]?.position ?? 0, 10)).toEqual([]);
        expect(plain(await chain.head(all[1]?.position))).toEqual(plain(all[1] ?? null));
        expect(plain(await chain.head((all[2]?.position ?? 0) - 1))).toEqual(plain(all[1] ?? null));
        expect(await chain.head((all[0]?.position ?? 0) - 1)).toBeNull();
      }),
    );

    test(
      'two concurrent followers create the same links, each link once',
      on(async ({ log, chain }) => {
        await log.append(aStream(), -1, [anEvent(), anEvent()]);
        await Promise.all([chain.follow(), chain.follow(), chain.follow()]);
        expect((await chain.after(0, 10)).map(plain)).toEqual(await recomputed(log));
      }),
    );
  });
}

type Link = { readonly position: number; readonly count: number; readonly hash: Uint8Array };

function plain(link: Link | null): object | null {
  return link === null ? null : { ...link, hash: Buffer.from(link.hash).toString('hex') };
}

async function recomputed(log: EventLog): Promise<readonly (object | null)[]> {
  let hash: Uint8Array = noLink;
  return (await log.readAll(0, 1_000)).filter(endsCommit).map((event, index) => {
    hash = linkAfter(hash, event.leaf);
    return plain({ position: event.position, count: index + 1, hash });
  });
}
