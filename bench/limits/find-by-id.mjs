// The limit for a read in the cluster profile: a Fastify server that finds a document in MongoDB by its id and returns
// it. At startup, the server creates `COUNT` documents. Each response is `BYTES` bytes long.
//   node bench/limits/find-by-id.mjs MONGODB_URL DATABASE COUNT BYTES
import { fastify } from 'fastify';
import { MongoClient } from 'mongodb';
import { listen } from './listen.mjs';

const [url, database, count, bytes] = process.argv.slice(2);
const client = await MongoClient.connect(url, { readConcern: { level: 'majority' } });
const documents = client.db(database).collection('find_by_id');
const filling = 'x'.repeat(Math.max(0, Number(bytes) - 14));
await documents.bulkWrite(
  Array.from({ length: Number(count) }, (_, n) => ({
    replaceOne: { filter: { _id: `bench-${n}` }, replacement: { filling }, upsert: true },
  })),
);
const app = fastify();
app.get('/tokens/:id', async (request, reply) => {
  const found = await documents.findOne({ _id: request.params.id });
  return reply.send({ filling: found.filling });
});
await listen(app);
