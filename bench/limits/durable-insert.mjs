// The limit of every write: a Fastify server that stores the bytes of a request in SQLite and responds when they are on
// disk. All waiting requests share one commit.
//   node bench/limits/durable-insert.mjs DIRECTORY ANSWER_BYTES
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { fastify } from 'fastify';
import { listen } from './listen.mjs';

const [directory, bytes] = process.argv.slice(2);
const db = new Database(join(directory, 'limit.db'));
db.pragma('journal_mode = WAL');
db.pragma('synchronous = FULL');
db.exec('CREATE TABLE IF NOT EXISTS stored (id INTEGER PRIMARY KEY, body BLOB NOT NULL)');
const insert = db.prepare('INSERT INTO stored (body) VALUES (?)');
const begin = db.prepare('BEGIN IMMEDIATE');
const commit = db.prepare('COMMIT');
let waiting = [];

function store(body) {
  return new Promise((resolve) => {
    waiting.push({ body, resolve });
    if (waiting.length === 1) setImmediate(commitAll);
  });
}

function commitAll() {
  const group = waiting;
  waiting = [];
  begin.run();
  for (const { body } of group) insert.run(body);
  commit.run();
  for (const { resolve } of group) resolve();
}

const answer = JSON.stringify({ filling: 'x'.repeat(Math.max(0, Number(bytes) - 14)) });
const app = fastify();
const parse = (_request, body, done) => done(null, JSON.parse(body));
app.addContentTypeParser('application/merge-patch+json', { parseAs: 'string' }, parse);
for (const [method, url, status] of [
  ['POST', '/tokens', 201],
  ['PATCH', '/tokens/:id', 200],
  ['DELETE', '/tokens/:id', 204],
]) {
  app.route({
    ...{ method, url },
    handler: async (request, reply) => {
      await store(JSON.stringify(request.body ?? request.params));
      reply.code(status).header('content-type', 'application/json; charset=utf-8');
      return reply.send(status === 204 ? undefined : answer);
    },
  });
}
await listen(app);
