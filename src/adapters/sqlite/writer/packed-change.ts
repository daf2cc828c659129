import type { StoredChange, StoredWrite } from '../../../ports/unit-of-work.js';

/**
 * A change as it is sent to the writer thread: one string and one block of bytes. Copying the objects and buffers of a
 * change one by one takes Node.js three times as long.
 */
export type PackedChange = {
  /** The tenant of the change, or null if the change has no events. */
  readonly tenantId: string | null;
  /** The change as JSON. Each binary value is replaced by a number, which is its index among the parts of `bytes`. */
  readonly text: string;
  readonly bytes: Uint8Array;
};

export function packChange({ writes, claim }: StoredChange): PackedChange {
  const parts = new Map<Uint8Array, number>();
  // Stores each buffer only once. A row of the directory contains the same ciphertext buffer as its event.
  const put = (part: Uint8Array): number => {
    const at = parts.get(part) ?? parts.size;
    parts.set(part, at);
    return at;
  };
  const packed = {
    writes: writes.map((write) => packWrite(write, put)),
    claim: claim === null ? null : { ...claim, mac: put(claim.mac) },
    lengths: [...parts.keys()].map(({ length }) => length),
  };
  return {
    tenantId: writes[0]?.commit.events[0]?.tenantId ?? null,
    text: JSON.stringify(packed satisfies PackedText),
    bytes: joined([...parts.keys()]),
  };
}

/** Restores a change packed by `packChange`. */
export function unpackChange({ text, bytes }: PackedChange): StoredChange {
  const { writes, claim, lengths } = JSON.parse(text) as PackedText;
  const parts: Uint8Array[] = [];
  let start = 0;
  for (const length of lengths) {
    parts.push(bytes.subarray(start, start + length));
    start += length;
  }
  const take = (at: number): Uint8Array => {
    const part = parts[at];
    if (part === undefined) throw new Error('a packed change refers to bytes that it does not contain');
    return part;
  };
  return {
    writes: writes.map((write) => unpackWrite(write, take)),
    claim: claim === null ? null : { ...claim, mac: take(claim.mac) },
  };
}

type PackedText = {
  readonly writes: readonly PackedWrite[];
  readonly claim: (Omit<NonNullable<StoredChange['claim']>, 'mac'> & { readonly mac: number }) | null;
  readonly lengths: readonly number[];
};
type PackedWrite = ReturnType<typeof packWrite>;

// The functions below list every field explicitly. Because an event has many fields, destructuring with `...rest` would
// take V8 several µs per event.

function packWrite(
  { stream, expectedRevision, commit, row, distinct }: StoredWrite,
  put: (part: Uint8Array) => number,
) {
  const putOrNull = (part: Uint8Array | null) => (part === null ? null : put(part));
  const events = commit.events.map(
    ({ id, type, version, tenantId, actorId, time, cmd, trace, clear, sealed, proof }) => ({
      id,
      type,
      version,
      tenantId,
      actorId,
      time,
      cmd,
      clear,
      trace: putOrNull(trace),
      content: putOrNull(sealed.content),
      cvc: putOrNull(sealed.cvc),
      first: proof.first,
      digests: putOrNull(proof.digests),
      sealedHash: put(proof.sealedHash),
      mac: put(proof.mac),
    }),
  );
  const token =
    row?.of === 'token'
      ? {
          ...row,
          // Without the ciphertexts, because a row only refers to the events that contain them.
          view: {
            stream: row.view.stream,
            tenantId: row.view.tenantId,
            state: row.view.state,
            mac: put(row.view.mac),
          },
        }
      : null;
  const records =
    row?.of === 'directory'
      ? row.records.map((record) => ({ ...record, content: putOrNull(record.content), mac: put(record.mac) }))
      : null;
  return { stream, expectedRevision, distinct, events, leaf: put(commit.leaf), token, records };
}

function unpackWrite(
  { stream, expectedRevision, distinct, events, leaf, token, records }: PackedWrite,
  take: (at: number) => Uint8Array,
): StoredWrite {
  const takeOrNull = (at: number | null) => (at === null ? null : take(at));
  const commit = {
    events: events.map((event) => ({
      id: event.id,
      type: event.type,
      version: event.version,
      tenantId: event.tenantId,
      actorId: event.actorId,
      time: event.time,
      cmd: event.cmd,
      trace: takeOrNull(event.trace),
      clear: event.clear,
      sealed: { content: takeOrNull(event.content), cvc: takeOrNull(event.cvc) },
      proof: {
        first: event.first,
        digests: takeOrNull(event.digests),
        sealedHash: take(event.sealedHash),
        mac: take(event.mac),
      },
    })),
    leaf: take(leaf),
  };
  const write = { stream, expectedRevision, commit, distinct };
  if (token !== null) {
    const { view } = token;
    const row = {
      stream: view.stream,
      tenantId: view.tenantId,
      state: view.state,
      content: null,
      cvc: null,
      mac: take(view.mac),
    };
    return { row: { ...token, view: row }, ...write };
  }
  if (records === null) return { row: null, ...write };
  const unpacked = records.map(({ content, mac, ...record }) => ({
    ...record,
    content: takeOrNull(content),
    mac: take(mac),
  }));
  return { row: { of: 'directory', records: unpacked }, ...write };
}

/**
 * Concatenates the parts into a buffer outside the Node.js buffer pool. Sending a buffer from the pool to another
 * thread would copy the whole pool.
 */
function joined(parts: readonly Uint8Array[]): Buffer {
  const block = Buffer.allocUnsafeSlow(parts.reduce((size, { length }) => size + length, 0));
  let at = 0;
  for (const part of parts) {
    block.set(part, at);
    at += part.length;
  }
  return block;
}
