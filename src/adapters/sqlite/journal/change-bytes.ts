/** A request that changes `vault.db`. The journal records it so that it can be replayed. */
type JournalledChange = { readonly operation: string; readonly input: unknown };

/**
 * In the JSON, each binary value is replaced by an object with a single member. The name of that member is this
 * constant, and its value is the number of bytes.
 */
const bytesKey = '$bytes';
/** Like `bytesKey`, but for a long string. The string is stored as UTF-8 outside the JSON. */
const textKey = '$text';
/**
 * The minimum length of a string that is stored outside the JSON. A packed change consists mostly of one long string
 * that already contains JSON. Escaping this string again would take longer than the rest of the encoding.
 */
const longText = 256;

/**
 * Encodes the changes in a group. The result has three parts: the length of a JSON text (four bytes), the JSON text,
 * and the bytes of all binary values and long strings in the order in which the text refers to them. `decodeChanges` is
 * the inverse. Long strings must be well-formed Unicode.
 */
export function encodeChanges(changes: readonly JournalledChange[]): Buffer {
  const binaries: Uint8Array[] = [];
  const text = Buffer.from(JSON.stringify(changes.map((change) => withoutBinaries(change, binaries))));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.length);
  return Buffer.concat([length, text, ...binaries]);
}

/** Returns the changes encoded by `encodeChanges`. Throws if the bytes are not in that format. */
export function decodeChanges(encoded: Buffer): readonly JournalledChange[] {
  const end = 4 + encoded.readUInt32BE(0);
  const changes: unknown = JSON.parse(encoded.toString('utf8', 4, end));
  let at = end;
  const take = (length: number): Buffer => {
    if (!Number.isSafeInteger(length) || length < 0 || at + length > encoded.length)
      throw new Error('bytes are missing');
    at += length;
    // Returns a copy. A statement can hold a reference to the value for a long time, and a slice would keep all of
    // `encoded` in memory for just as long.
    return Buffer.from(encoded.subarray(at - length, at));
  };
  if (!Array.isArray(changes)) throw new Error('not a list of changes');
  const decoded = changes.map((change) => withBinaries(change, take));
  if (at !== encoded.length) throw new Error('there are more bytes than the changes refer to');
  return decoded.map((change) => {
    if (!isObject(change) || typeof change['operation'] !== 'string') throw new Error('not a change');
    return { operation: change['operation'], input: change['input'] };
  });
}

/** Replaces all binary values and long strings in a value. Copies an object only if something in it is replaced. */
function withoutBinaries(value: unknown, binaries: Uint8Array[]): unknown {
  if (typeof value === 'string' && value.length >= longText) {
    const bytes = Buffer.from(value);
    binaries.push(bytes);
    return { [textKey]: bytes.length };
  }
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) {
    binaries.push(value);
    return { [bytesKey]: value.length };
  }
  const isList = Array.isArray(value);
  const members = value as Readonly<Record<string, unknown>>;
  let copy: Record<string, unknown> | null = null;
  for (const name in members) {
    if (name === bytesKey || name === textKey) throw new Error(`a change must not have a member ${name}`);
    const member = members[name];
    const replaced = withoutBinaries(member, binaries);
    if (replaced === member) continue;
    copy ??= (isList ? [...value] : { ...value }) as Record<string, unknown>;
    copy[name] = replaced;
  }
  return copy ?? value;
}

function withBinaries(value: unknown, take: (length: number) => Buffer): unknown {
  if (Array.isArray(value)) return value.map((each) => withBinaries(each, take));
  if (!isObject(value)) return value;
  const length = value[bytesKey];
  if (length !== undefined) return take(Number(length));
  const textLength = value[textKey];
  if (textLength !== undefined) return take(Number(textLength)).toString();
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (typeof member === 'object' && member !== null) value[name] = withBinaries(member, take);
  }
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
