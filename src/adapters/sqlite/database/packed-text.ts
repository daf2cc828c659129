import { tokenStreamPrefix as prefix } from '../../../events/tokens/stream-name.js';

/** A name or a keyed hash as it is stored: the bytes of the hash if the vault made it, otherwise the text. */
export type Packed = string | Buffer;

const hashBytes = 32;
const tokenStream = new RegExp(`^${prefix}[0-9a-f]{64}$`);
const keyedHash = /^[0-9a-f]{64}$/;

/**
 * Returns the name of a stream as it is stored. The name of a token's stream ends with a keyed hash, and only the 32
 * bytes of that hash are stored. All other names are stored as text. The stored names of the tokens' streams sort in
 * the same order as the names.
 */
export function packStream(stream: string): Packed {
  return tokenStream.test(stream) ? Buffer.from(stream.slice(prefix.length), 'hex') : stream;
}

/**
 * An expression for the name of the stream whose stored name is in a column. SQLite makes the text, because a buffer
 * for each name would take longer. Threat: an attacker who can write to the file stores a name in a form that
 * `packStream` never returns, such as the name of a token's stream as text. The row would then have an authentic name,
 * but a read of that stream would not find the row. For such a value, the expression is a name that no stream has.
 */
export function streamName(column: string): string {
  const asText = `typeof(${column}) = 'text' AND ${column} NOT GLOB '${prefix}${'[0-9a-f]'.repeat(2 * hashBytes)}'`;
  return `CASE WHEN ${holdsTokenStream(column)} THEN '${prefix}' || lower(hex(${column})) WHEN ${asText} THEN ${column}
    ELSE 'invalid name ' || quote(${column}) END`;
}

/**
 * A query that returns the stored names of the token streams in a JSON array. `packStream` packs a name in the same
 * way.
 */
export const packedStreams = `SELECT unhex(substr(value, ${prefix.length + 1})) FROM json_each(?)`;

/**
 * A condition that is true if a column contains the stored name of a token's stream. A walk over rows in the order of
 * their names needs it, because it continues after the name of the last row. Threat: an attacker who can write to the
 * file adds rows with other values, so that the walk never ends.
 */
export function holdsTokenStream(column: string): string {
  return `typeof(${column}) = 'blob' AND length(${column}) = ${hashBytes}`;
}

/** Returns a keyed hash, written as 64 hex digits, as its 32 bytes. Returns any other text unchanged. */
export function packHash(text: string): Packed {
  return keyedHash.test(text) ? Buffer.from(text, 'hex') : text;
}
