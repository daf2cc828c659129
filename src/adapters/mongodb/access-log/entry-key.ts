import { ObjectId } from 'mongodb';

const chainBytes = 12;
const sequenceBytes = 6;
const numberBytes = 4;
const keyBytes = chainBytes + sequenceBytes + numberBytes;

/** The place of an entry: chain, sequence of its batch, number in it. Keys of one chain compare in the order of writing. */
export type EntryPlace = { readonly chain: string; readonly sequence: number; readonly number: number };

/** A chain that no other writer has, 24 hex digits; later ones compare as greater, by the second. */
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

/** Before every key there is. */
export const beforeAll = Buffer.alloc(keyBytes);

/** After every key of a batch; without one, after every key of the chain. */
export function afterBatch(chain: string, sequence = 2 ** (8 * sequenceBytes) - 1): Buffer {
  return entryKey({ chain, sequence, number: 2 ** (8 * numberBytes) - 1 });
}
