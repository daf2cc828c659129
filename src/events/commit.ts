import { hash, timingSafeEqual } from 'node:crypto';
import type { ClearEvent, NewEvent, RecordedEvent } from './event.js';
import { bytesOfText, textOfBytes } from './sealing/byte-text.js';
import { hmac, sha256, sha256Text } from './sealing/hashes.js';
import { lengthPrefixed, lengthPrefixedText } from './sealing/length-prefixed.js';

/**
 * The part of a stored event that makes it possible to verify the event without reading any other event. It describes
 * the event's commit and contains the MAC of that commit. A commit consists of the events that one command appended to
 * one stream.
 */
export type EventProof = {
  /** The revision of the commit's first event. */
  readonly first: number;
  /** The digests of all events in the commit, in order, 32 bytes each. Null if the commit contains only this event. */
  readonly digests: Uint8Array | null;
  /**
   * The hash of the trace and the ciphertexts. It makes it possible to verify the event without reading the
   * ciphertexts.
   */
  readonly sealedHash: Uint8Array;
  /** The MAC: HMAC-SHA-256 over the leaf of the commit, under a key that only the vault has. */
  readonly mac: Uint8Array;
};

/** Events that are appended together, each with its proof, and the leaf that represents them. */
export type Commit = {
  readonly events: readonly (NewEvent & { readonly proof: EventProof })[];
  /** The hash that represents the commit in the hash chain and in the Merkle tree of a checkpoint. */
  readonly leaf: Uint8Array;
};

/** A stored event that has not been verified. Any program that can write to the store may have written it. */
export type StoredEvent = RecordedEvent & { readonly proof: EventProof };
export type StoredClear = ClearEvent & { readonly proof: EventProof };

/** An event whose MAC was verified. `leaf` is the leaf of its commit. */
export type ProvenEvent = StoredEvent & { readonly leaf: Uint8Array };
export type ProvenClear = StoredClear & { readonly leaf: Uint8Array };

/**
 * An event with its place in its stream. The hashes do not cover the position in the log, because positions may differ
 * in a restored log.
 */
type PlacedEvent = Omit<ClearEvent, 'position'>;

const hashBytes = 32;
const absent = 0xffff_ffff;
/** The prefix that distinguishes leaves from inner nodes (RFC 6962, section 2.1). */
const leafPrefix = '\0';

/** The link that precedes the first commit in the hash chain. */
export const noLink: Uint8Array = new Uint8Array(hashBytes);

/** Returns the commit for events that are to be appended to a stream after `expectedRevision`. */
export function sealCommit(
  key: Uint8Array,
  stream: string,
  expectedRevision: number,
  events: readonly NewEvent[],
): Commit {
  const first = expectedRevision + 1;
  const sealedHashes = events.map(sealedHash);
  const digests = events.map((event, index) =>
    eventDigest(event, stream, first + index, sealedHashes[index] ?? noLink),
  );
  const leaf = commitLeaf(stream, first, digests.join(''));
  const mac = commitMac(key, leaf);
  const listed = events.length === 1 ? null : ownBytes(digests.join(''));
  return {
    events: events.map(({ id, type, version, tenantId, actorId, source, time, cmd, trace, clear, sealed }, index) => ({
      id,
      type,
      version,
      tenantId,
      actorId,
      source,
      time,
      cmd,
      trace,
      clear,
      sealed,
      proof: { first, digests: listed, sealedHash: sealedHashes[index] ?? noLink, mac },
    })),
    leaf,
  };
}

type Placed = { readonly revision: number; readonly proof: Pick<EventProof, 'first' | 'digests'> };

/** Returns the number of events in an event's commit, including the event itself. */
export function commitSize({ digests }: Pick<EventProof, 'digests'>): number {
  return digests === null ? 1 : digests.length / hashBytes;
}

/** Returns whether an event is the last one of its commit. */
export function endsCommit({ revision, proof }: Placed): boolean {
  return revision === proof.first + commitSize(proof) - 1;
}

/**
 * Returns the leaf of the commit that an event claims to belong to, or null if the event cannot belong to that commit.
 * The function does not need a key.
 */
export function leafOf(event: PlacedEvent & { readonly proof: Omit<EventProof, 'mac'> }): Buffer | null {
  const { stream, revision, proof } = event;
  const { first, digests } = proof;
  const digest = digestIfAny(event);
  if (digest === null) return null;
  if (digests === null) return revision === first ? commitLeaf(stream, first, digest) : null;
  const at = (revision - first) * hashBytes;
  if (digests.length % hashBytes !== 0 || at < 0 || at >= digests.length) return null;
  const listed = textOfBytes(digests);
  if (digest !== listed.slice(at, at + hashBytes)) return null;
  return commitLeaf(stream, first, listed);
}

/**
 * Returns the digest of a stored event, or null if it cannot be computed. Threat: an attacker who can write to the store
 * nests an event's JSON so deeply that it cannot be encoded, or changes a field to another type. The event is then
 * forged. An unexpected error would not name the event.
 */
function digestIfAny(event: PlacedEvent & { readonly proof: Pick<EventProof, 'sealedHash'> }): string | null {
  try {
    return eventDigest(event, event.stream, event.revision, event.proof.sealedHash);
  } catch {
    return null;
  }
}

/** Returns the leaf of an event's commit, or null if the commit's MAC is invalid. */
export function provenLeaf(key: Uint8Array, event: StoredClear): Buffer | null {
  const leaf = leafOf(event);
  const { mac } = event.proof;
  if (leaf === null || mac.length !== hashBytes) return null;
  return timingSafeEqual(commitMac(key, leaf), mac) ? leaf : null;
}

/** Returns the next link of the hash chain: the SHA-256 hash over the previous link and the commit's leaf. */
export function linkAfter(previous: Uint8Array, leaf: Uint8Array): Buffer {
  return sha256(textOfBytes(previous) + textOfBytes(leaf));
}

/** Returns the hash of the encrypted parts of an event: its trace, its content and its cvc. */
export function sealedHash({ trace, sealed }: Pick<NewEvent, 'trace' | 'sealed'>): Buffer {
  if (trace === null && sealed.content === null && sealed.cvc === null) return nothingSealed;
  return hashOfCiphertexts([trace, sealed.content, sealed.cvc]);
}

function hashOfCiphertexts(ciphertexts: readonly (Uint8Array | null)[]): Buffer {
  const parts = ciphertexts.flatMap((ciphertext) => {
    const length = Buffer.allocUnsafe(4);
    length.writeUInt32BE(ciphertext === null ? absent : ciphertext.length);
    return ciphertext === null ? [length] : [length, ciphertext];
  });
  return bytesOfText(hash('sha256', Buffer.concat(parts), 'binary'));
}

const nothingSealed = hashOfCiphertexts([null, null, null]);

/** Returns the digest of an event and of its place in the stream, as a byte string. */
function eventDigest(
  event: Omit<PlacedEvent, 'stream' | 'revision'>,
  stream: string,
  revision: number,
  sealed: Uint8Array,
): string {
  const { id, type, version, tenantId, actorId, time, cmd, clear } = event;
  const place = ['strongroom.event.1', stream, String(revision), id, type, String(version)];
  const facts = [tenantId, actorId, String(time), JSON.stringify(clear), ...(cmd === null ? [] : [cmd])];
  return sha256Text(textOfBytes(sealed) + lengthPrefixedText([...place, ...facts]));
}

/**
 * Returns the leaf of a commit. The leaf does not depend on other streams, so one person's events can be proven without
 * disclosing anyone else's events.
 */
function commitLeaf(stream: string, first: number, digests: string): Buffer {
  const count = digests.length / hashBytes;
  const head = lengthPrefixedText(['strongroom.commit.1', stream, String(first), String(count)]);
  return sha256(leafPrefix + head + digests);
}

function commitMac(key: Uint8Array, leaf: Uint8Array): Buffer {
  return hmac(key, macPurpose, leaf);
}

const macPurpose = lengthPrefixed(['strongroom.commit.mac.1']);

/**
 * Returns the bytes in an unpooled buffer. When a pooled buffer is sent to another thread, its whole pool is copied.
 */
function ownBytes(bytes: string): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  own.write(bytes, 'latin1');
  return own;
}
