// Makes the mongod processes on these loopback ports a replica set, unless they already are one. Then waits until the
// replica set accepts writes.
import { setTimeout as wait } from 'node:timers/promises';
import { MongoClient, MongoServerError } from 'mongodb';

const alreadyInitialized = 23;
const limitMs = 30_000;
const hosts = process.argv.slice(2).map((port) => `127.0.0.1:${port}`);
const clients = hosts.map((host) => new MongoClient(`mongodb://${host}`, { directConnection: true }));

const isReady = async () => {
  const states = await Promise.all(clients.map((client) => client.db('admin').command({ hello: 1 })));
  return (
    states.some(({ isWritablePrimary }) => isWritablePrimary) &&
    states.every(({ isWritablePrimary, secondary }) => isWritablePrimary || secondary)
  );
};

try {
  const members = hosts.map((host, index) => ({ _id: index, host }));
  await clients[0]?.db('admin').command({ replSetInitiate: { _id: 'rs0', members } });
} catch (error) {
  if (!(error instanceof MongoServerError) || error.code !== alreadyInitialized) throw error;
}
const until = Date.now() + limitMs;
while (!(await isReady())) {
  if (Date.now() > until) throw new Error(`the replica set of ${hosts.join(', ')} took no writes within ${limitMs} ms`);
  await wait(100);
}
await Promise.all(clients.map((client) => client.close()));
