import { randomBytes } from 'node:crypto';
import { linkAfter, noLink, sealCommit } from '#src/events/commit.js';
import type { NewEvent } from '#src/events/event.js';

/** An event in the format of the stand-in's journal. */
export type Stored = {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  readonly revision: number;
  readonly position: number;
  readonly metadata: string;
  readonly data: string;
};

type Metadata = Omit<NewEvent, 'id' | 'type' | 'tenantId' | 'actorId' | 'trace' | 'sealed'> & {
  readonly tenant: string;
  readonly actor: string;
  readonly first: number;
  readonly sealed: string;
};

/** Recomputes everything in the journal and the links that can be computed without a key. Leaves the MACs unchanged. */
export function relinkedJournal(appends: readonly (readonly Stored[])[]) {
  let hash: Uint8Array = noLink;
  let count = 0;
  const links: { _id: number; count: number; hash: Buffer }[] = [];
  const relinked = appends
    .filter((events) => events.length > 0)
    .map((events) => {
      const [first] = events;
      const last = events.at(-1);
      if (first === undefined || last === undefined || first.stream.startsWith('$')) return events;
      const metadata = events.map((event) => JSON.parse(Buffer.from(event.metadata, 'base64').toString()) as Metadata);
      const given = metadata.map(({ tenant: tenantId, actor: actorId, ...rest }, index) => ({
        ...rest,
        id: events[index]?.id ?? '',
        type: events[index]?.type ?? '',
        tenantId,
        actorId,
        ...sealedIn(events[index]?.data ?? ''),
      }));
      const commit = sealCommit(randomBytes(32), first.stream, (metadata[0]?.first ?? 0) - 1, given);
      hash = linkAfter(hash, commit.leaf);
      count += 1;
      links.push({ _id: last.position, count, hash: Buffer.from(hash) });
      return events.map((event, index) => {
        const { digests } = commit.events[index]?.proof ?? { digests: null };
        const fitting = {
          ...metadata[index],
          digests: digests === null ? null : Buffer.from(digests).toString('base64url'),
        };
        return { ...event, metadata: Buffer.from(JSON.stringify(fitting)).toString('base64') };
      });
    });
  return { lines: `${relinked.map((events) => JSON.stringify(events)).join('\n')}\n`, links };
}

/** Decodes a frame in the format that `sealed-frame.ts` defines. */
function sealedIn(data: string): Pick<NewEvent, 'trace' | 'sealed'> {
  const bytes = Buffer.from(data, 'base64');
  let at = 1;
  const next = (): Buffer | null => {
    const length = bytes.readUInt32BE(at);
    at += 4;
    if (length === 0xffff_ffff) return null;
    at += length;
    return bytes.subarray(at - length, at);
  };
  const [trace, content, cvc] = [next(), next(), next()];
  return { trace, sealed: { content, cvc } };
}
