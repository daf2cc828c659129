/** A text as it is stored in a column of type `ANY`: as bytes if the vault made it, otherwise unchanged. */
export type Packed = string | Buffer;

const prefix = 'token-';
const tokenStream = /^token-[0-9a-f]{64}$/;
const keyedHash = /^[0-9a-f]{64}$/;

/**
 * Returns the name of a stream as it is stored. The name of a token's stream ends with a keyed hash, and only the 32
 * bytes of that hash are stored. All other names are stored as text. The stored names of the tokens' streams sort in
 * the same order as the names.
 */
export function packStream(stream: string): Packed {
  return tokenStream.test(stream) ? Buffer.from(stream.slice(prefix.length), 'hex') : stream;
}

export function unpackStream(stored: Packed): string {
  return typeof stored === 'string' ? stored : prefix + stored.toString('hex');
}

/** A query that returns the stored names of the streams in a JSON array. `packStream` packs a name in the same way. */
export const packedStreams = `SELECT iif(value GLOB '${prefix}*' AND length(value) = ${prefix.length + 64},
  coalesce(unhex(substr(value, ${prefix.length + 1})), value), value) FROM json_each(?)`;

/** Returns a keyed hash, written as 64 hex digits, as its 32 bytes. Returns any other text unchanged. */
export function packHash(text: string): Packed {
  return keyedHash.test(text) ? Buffer.from(text, 'hex') : text;
}
