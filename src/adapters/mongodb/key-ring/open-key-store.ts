import type { Clock } from '../../../ports/clock.js';
import { type ClockRecords, decodeClockRecord, encodeClockRecord } from '../../../ports/clock-record.js';
import type { KeyRing } from '../../../ports/key-ring.js';
import { newRootCheck, passesRootCheck } from '../../key-ring/root-check.js';
import type { TraceUseLimits } from '../../key-ring/trace-uses.js';
import { MongoBroken, type MongoConnection } from '../connection.js';
import { DuplicateKey } from '../mongo-error.js';
import { ensureIndexes } from '../required-indexes.js';
import { keyCollections, keyIndexes, type MetaDocument, restored, restoringMark } from './key-collections.js';
import { ensureMongoGenerationKey } from './mongo-generation-keys.js';
import { mongoKeyRing } from './mongo-key-ring.js';
import { createMongoRootKeys, type RootKeySource } from './mongo-root-keys.js';

export type MongoKeyStore = {
  readonly keys: KeyRing & { close(): Promise<void> };
  readonly clockRecords: ClockRecords;
  /** Returns the id of the log that the keys belong to, or null if the keys are new. */
  logIdOfKeys(): Promise<string | null>;
  /** Binds new keys to a log. Returns the log that they belong to, which differs if another process was first. */
  bindKeysToLog(logId: string): Promise<string>;
};

/**
 * Opens the key store, and creates it in an empty database. Throws MongoBroken if neither `rootKey` nor a key of
 * `source` is its root key. `source` is read again when a rotation has replaced the root key. The caller closes the
 * connection after `keys`.
 */
export async function openMongoKeyStore(
  connection: MongoConnection,
  rootKey: Buffer,
  clock: Clock,
  logHead: () => Promise<number>,
  source: RootKeySource = async () => [],
  traceLimits: TraceUseLimits = {},
): Promise<MongoKeyStore> {
  await refuseHalf(connection);
  const check = await once(connection, { _id: 'root_check', value: newRootCheck(rootKey) });
  if (!Buffer.isBuffer(check)) throw new MongoBroken(otherRootKey);
  const others = passesRootCheck(rootKey, check) ? [] : await source();
  const found = [rootKey, ...others].find((candidate) => passesRootCheck(candidate, check));
  if (found === undefined) throw new MongoBroken(otherRootKey);
  const roots = createMongoRootKeys(connection, { rootKey: found, check }, source);
  for (const other of others) other.fill(0);
  // Not every server can create a collection within a transaction.
  await connection.call((db) => ensureIndexes(db, keyIndexes));
  await ensureMongoGenerationKey(connection, roots, clock);
  return {
    keys: mongoKeyRing(connection, roots, clock, logHead, traceLimits),
    clockRecords: {
      async load() {
        const stored = await connection.call((db) => keyCollections.meta(db).findOne({ _id: 'clock' }));
        return Buffer.isBuffer(stored?.value) ? decodeClockRecord(stored.value) : null;
      },
      async save(record) {
        const value = encodeClockRecord(record);
        await connection.call((db) =>
          keyCollections.meta(db).updateOne({ _id: 'clock' }, { $set: { value } }, { upsert: true }),
        );
      },
    },
    async logIdOfKeys() {
      const found = await connection.call((db) => keyCollections.meta(db).findOne({ _id: 'log_id' }));
      return found === null ? null : String(found.value);
    },
    bindKeysToLog: async (logId) => String(await once(connection, { _id: 'log_id', value: logId })),
  };
}

/**
 * Rejects a key store that was restored only in part. Threat: the part would pass for the whole, and data under the
 * missing keys would seem to be lost.
 */
async function refuseHalf({ call }: MongoConnection): Promise<void> {
  const half = { _id: restoringMark, value: { $ne: restored } };
  if ((await call((db) => keyCollections.meta(db).findOne(half))) === null) return;
  throw new MongoBroken({
    check: 'keys',
    says: 'the keys are being restored, or a restore was interrupted, and some keys are missing',
    do: 'Wait until the restore ends, or run `strongroom restore` again, which starts over',
  });
}

const otherRootKey = 'the root key is not the one that the key store was created with. Name the right root key file.';

/** Inserts a document that is written only once, by the first process. Returns the stored value. */
async function once({ call }: MongoConnection, meta: MetaDocument): Promise<MetaDocument['value']> {
  const find = () => call((db) => keyCollections.meta(db).findOne({ _id: meta._id }));
  const found = await find();
  if (found !== null) return found.value;
  try {
    await call((db) => keyCollections.meta(db).insertOne(meta));
    return meta.value;
  } catch (error) {
    if (!(error instanceof DuplicateKey)) throw error;
    const first = await find();
    if (first === null) throw error;
    return first.value;
  }
}
