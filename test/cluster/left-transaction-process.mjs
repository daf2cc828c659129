import { connectMongo } from '#src/adapters/mongodb/connection.js';
import { inTransaction } from '#src/adapters/mongodb/in-transaction.js';
import { keyCollections } from '#src/adapters/mongodb/key-store/key-collections.js';

/**
 * Begins a transaction, changes the documents that `held` selects, and prints `open`. The process then waits until it
 * is killed.
 */
const [, , url, database, held] = process.argv;
const connection = await connectMongo(url, database);

const changes = {
  async root_check(db, session) {
    await keyCollections.meta(db).updateOne({ _id: 'root_check' }, { $inc: { uses: 1 } }, { session });
  },
  /** Changes all wrapping keys, and inserts the next wrapping key for each tenant. */
  async tenant_keys(db, session) {
    const keys = keyCollections.tenantKeys(db);
    await keys.updateMany({ purpose: 'wrapping' }, { $set: { made_at: 1 } }, { session });
    const all = await keys.find({ purpose: 'wrapping' }, { session }).sort({ number: 1 }).toArray();
    for (const { _id, ...key } of new Map(all.map((row) => [row.tenant, row])).values()) {
      await keys.insertOne({ ...key, _id: `next of ${_id}`, number: key.number + 1 }, { session });
    }
  },
};

await inTransaction(connection, async (db, session) => {
  await changes[held](db, session);
  process.stdout.write('open\n');
  await new Promise(() => undefined);
});
