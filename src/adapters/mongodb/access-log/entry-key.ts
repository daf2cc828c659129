import { ObjectId } from 'mongodb';

const chainBytes = 12;
const sequenceBytes = 6;
const numberBytes = 4;
const keyBytes = chainBytes + sequenceBytes + numberBytes;

/**
 * The place of an entry: the id of its chain, the sequence number of its batch, and its number in the batch. Within a
 * chain, keys sort in the order in which the entries were written.
 */
export type EntryPlace = { readonly chain: string; readonly sequence: number; readonly number: number };

/**
 * Returns a new, unique id for a chain, as 24 hex digits. Ids sort by creation time, with a precision of one second.
 */
export function newChain(): string {
  return new ObjectId().toHexString();
}

export function isChain(text: string): boolean {
  return /^[0-9a-f]{24}$/.test(text);
}

export function entryKey({ chain, sequence, number }: EntryPlace): Buffer {
  const key = Buffer.alloc(keyBytes);
  key.write(chain, 'hex');
  key.writeUIntBE(sequence, chainBytes, sequenceBytes);
  key.writeUIntBE(number, chainBytes + sequenceBytes, numberBytes);
  return key;
}

export function entryPlace(key: Buffer): EntryPlace {
  return {
    chain: key.toString('hex', 0, chainBytes),
    sequence: key.readUIntBE(chainBytes, sequenceBytes),
    number: key.readUIntBE(chainBytes + sequenceBytes, numberBytes),
  };
}

/** The key that sorts before the keys of all entries. */
export const beforeAll = Buffer.alloc(keyBytes);

/**
 * The last possible key. Threat: an attacker plants an entry with a longer key, which sorts after the keys of all
 * chains.
 */
export const afterAll = Buffer.alloc(keyBytes, 0xff);

/**
 * Returns a key that sorts after all keys in a batch. If `sequence` is omitted, the key sorts after all keys in the
 * chain.
 */
export function afterBatch(chain: string, sequence = 2 ** (8 * sequenceBytes) - 1): Buffer {
  return entryKey({ chain, sequence, number: 2 ** (8 * numberBytes) - 1 });
}
