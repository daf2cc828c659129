// The limit for a write in the cluster profile: a Fastify server that handles each request by appending one event to
// EventStoreDB, and then writing one journaled document to MongoDB. The event and the document are each as large as the
// request.
//   node bench/limits/append-and-upsert.mjs EVENTSTORE_URL MONGODB_URL DATABASE BYTES
import { randomUUID } from 'node:crypto';
import { binaryEvent, EventStoreDBClient, NO_STREAM } from '@eventstore/db-client';
import { fastify } from 'fastify';
import { MongoClient } from 'mongodb';
import { listen } from './listen.mjs';

const [eventStoreUrl, url, database, bytes] = process.argv.slice(2);
const log = EventStoreDBClient.connectionString(eventStoreUrl);
const client = await MongoClient.connect(url, { writeConcern: { w: 'majority', journal: true } });
const documents = client.db(database).collection('append_and_upsert');
const answer = JSON.stringify({ filling: 'x'.repeat(Math.max(0, Number(bytes) - 14)) });

const app = fastify();
app.post('/tokens', async (request, reply) => {
  const _id = randomUUID();
  const data = Buffer.from(JSON.stringify(request.body));
  const event = binaryEvent({ type: 'limit', data });
  await log.appendToStream(`limit-${_id}`, [event], { expectedRevision: NO_STREAM });
  await documents.updateOne({ _id }, { $set: { data } }, { upsert: true });
  return reply.code(201).header('content-type', 'application/json; charset=utf-8').send(answer);
});
await listen(app);
