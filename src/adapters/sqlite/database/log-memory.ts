import type { LogMemory } from '../../../ports/key-store.js';

type Stored = {
  readonly checkpoint: LogMemory['checkpoint'];
  readonly link: { readonly position: number; readonly count: number; readonly hash: string } | null;
};

/** Encodes a `LogMemory` for storage in `keys.db`. `logMemoryIn` is the inverse. */
export function logMemoryBytes({ checkpoint, link }: LogMemory): Buffer {
  const stored: Stored = {
    checkpoint,
    link: link === null ? null : { ...link, hash: Buffer.from(link.hash).toString('hex') },
  };
  return Buffer.from(JSON.stringify(stored));
}

export function logMemoryIn(bytes: Buffer | undefined): LogMemory {
  if (bytes === undefined) return { checkpoint: null, link: null };
  const { checkpoint, link } = JSON.parse(bytes.toString('utf8')) as Stored;
  return { checkpoint, link: link === null ? null : { ...link, hash: Buffer.from(link.hash, 'hex') } };
}

/** Returns the newer of the two checkpoints and the newer of the two links. */
export function newerMemory(one: LogMemory, other: LogMemory): LogMemory {
  return {
    checkpoint: (other.checkpoint?.number ?? 0) > (one.checkpoint?.number ?? 0) ? other.checkpoint : one.checkpoint,
    link: (other.link?.position ?? 0) > (one.link?.position ?? 0) ? other.link : one.link,
  };
}
