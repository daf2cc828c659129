import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { connectMongo } from '#src/adapters/mongodb/connection.js';
import { keyCollections } from '#src/adapters/mongodb/key-store/key-collections.js';
import { openMongoKeys } from '#src/compose/cluster/open-mongo-keys.js';

/** Creates, rotates and destroys keys until the process is killed. Prints a line after each completed call. */
const [, , url, database] = process.argv;
const rootKey = Buffer.from(await text(process.stdin), 'hex');
const connection = await connectMongo(url, database);
const { keys } = await openMongoKeys(connection, rootKey, { now: Date.now }, async () => 0);
const say = (...words) => process.stdout.write(`${words.join(' ')}\n`);

for (;;) {
  const tenantId = randomUUID();
  await keys.createTenant(tenantId);
  for (let block = 0; block < 3; block += 1) {
    const made = await Promise.all(Array.from({ length: 20 }, () => keys.create(tenantId)));
    for (const { id, key } of made) say('made', tenantId, id, key.toString('hex'));
    const [first, second] = made;
    for (const { id } of [first, second]) say('ending', tenantId, id);
    await keys.destroy([first, second].map(({ id }) => ({ keyId: id, eventId: randomUUID() })));
    for (const { id } of [first, second]) say('destroyed', tenantId, id);
    // Raises the wrap count to its limit. The next block of keys then needs a new wrapping key.
    const wraps = keyCollections.wraps(connection.db);
    const newest = await keyCollections.tenantKeys(connection.db).find({ tenant: tenantId }).toArray();
    for (const { _id } of newest) await wraps.updateOne({ _id }, { $set: { count: 2 ** 30 } }, { upsert: true });
  }
}
