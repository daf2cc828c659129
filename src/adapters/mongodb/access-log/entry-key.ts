import { ObjectId } from 'mongodb';

const chainBytes = 12;
const sequenceBytes = 6;
const numberBytes = 4;
const keyBytes = chainBytes + sequenceBytes + numberBytes;

/**
 * An entry's place: its chain, the sequence number of its batch, and its number in the batch. The keys in a chain sort
 * in the order in which their entries were written.
 */
export type EntryPlace = { readonly chain: string; readonly sequence: number; readonly number: number };

/** Returns a new, unique chain id of 24 hex digits. Ids sort by creation time, to the second. */
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

/** A key that sorts before the key of every entry. */
export const beforeAll = Buffer.alloc(keyBytes);

/** Returns a key that sorts after every key in a batch, or after every key in the chain if `sequence` is omitted. */
export function afterBatch(chain: string, sequence = 2 ** (8 * sequenceBytes) - 1): Buffer {
  return entryKey({ chain, sequence, number: 2 ** (8 * numberBytes) - 1 });
}
