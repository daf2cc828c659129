// The limit for every write: a Fastify server that stores the body of each request in SQLite, and responds once the
// body is on disk. A worker thread commits the requests, and all waiting requests share one commit. While a commit is
// in progress, the server parses new requests.
//   node bench/limits/durable-insert.mjs DIRECTORY ANSWER_BYTES
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, receiveMessageOnPort, Worker, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { fastify } from 'fastify';
import { listen } from './listen.mjs';

if (isMainThread) await serve(process.argv[2], Number(process.argv[3]));
else commitGroups(workerData);

async function serve(directory, bytes) {
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: join(directory, 'limit.db') });
  let waiting = [];
  const stored = [];
  worker.on('message', (count) => {
    for (const resolve of stored.splice(0, count)) resolve();
  });
  const store = (body) =>
    new Promise((resolve) => {
      stored.push(resolve);
      waiting.push(body);
      if (waiting.length === 1) setImmediate(handOver);
    });
  const handOver = () => {
    worker.postMessage(waiting);
    waiting = [];
  };
  const answer = JSON.stringify({ filling: 'x'.repeat(Math.max(0, bytes - 14)) });
  const app = fastify();
  const parse = (_request, body, done) => done(null, JSON.parse(body));
  app.addContentTypeParser('application/merge-patch+json', { parseAs: 'string' }, parse);
  for (const [method, url, status] of [
    ['POST', '/tokens', 201],
    ['PATCH', '/tokens/:id', 200],
    ['DELETE', '/tokens/:id', 204],
  ]) {
    app.route({
      method,
      url,
      handler: async (request, reply) => {
        await store(JSON.stringify(request.body ?? request.params));
        reply.code(status).header('content-type', 'application/json; charset=utf-8');
        return reply.send(status === 204 ? undefined : answer);
      },
    });
  }
  await listen(app);
}

function commitGroups(path) {
  const db = new Database(path);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec('CREATE TABLE IF NOT EXISTS stored (id INTEGER PRIMARY KEY, body BLOB NOT NULL)');
  const insert = db.prepare('INSERT INTO stored (body) VALUES (?)');
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  parentPort.on('message', (first) => {
    begin.run();
    let count = 0;
    for (let group = first; group !== undefined; group = receiveMessageOnPort(parentPort)?.message) {
      for (const body of group) insert.run(body);
      count += group.length;
    }
    commit.run();
    parentPort.postMessage(count);
  });
}
