// What a get in clear cannot do without, and nothing else: the hash of the key, the keyed hash of the id, one row from SQLite, its
// data key and its content opened, a sealed and durable record of the read. No rules, no generations, no expiry, no metrics, no
// log. It makes `COUNT` tokens that each lead to an answer of about `BYTES`.
//   node bench/limits/bare-vault.mjs DIRECTORY COUNT BYTES
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { fastify } from 'fastify';
import { listen } from './listen.mjs';

const [directory, count, bytes] = process.argv.slice(2);
const [namesKey, tenantKey, auditKey] = [randomBytes(32), randomBytes(32), randomBytes(32)];
const db = new Database(join(directory, 'bare-vault.db'));
db.pragma('journal_mode = WAL');
db.pragma('synchronous = FULL');
db.exec(`CREATE TABLE tokens (name TEXT PRIMARY KEY, key BLOB NOT NULL, content BLOB NOT NULL) WITHOUT ROWID;
  CREATE TABLE records (id INTEGER PRIMARY KEY, name TEXT NOT NULL, time INTEGER NOT NULL, trace BLOB NOT NULL);
  CREATE INDEX records_name ON records (name, time)`);
const insertToken = db.prepare('INSERT INTO tokens (name, key, content) VALUES (?, ?, ?)');
const find = db.prepare('SELECT key, content FROM tokens WHERE name = ?');
const insertRecord = db.prepare('INSERT INTO records (name, time, trace) VALUES (?, ?, ?)');
const begin = db.prepare('BEGIN IMMEDIATE');
const commit = db.prepare('COMMIT');

const nameOf = (id) => createHmac('sha256', namesKey).update(id).digest('hex');

function seal(key, plain, name) {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(name));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function open(key, box, name) {
  const decipher = createDecipheriv('aes-256-gcm', key, box.subarray(0, 12)).setAAD(Buffer.from(name));
  decipher.setAuthTag(box.subarray(box.length - 16));
  const plain = decipher.update(box.subarray(12, box.length - 16));
  decipher.final();
  return plain;
}

const filling = 'x'.repeat(Math.max(0, Number(bytes) - 30));
db.transaction(() => {
  for (let n = 0; n < Number(count); n++) {
    const name = nameOf(`bench-${n}`);
    const key = randomBytes(32);
    insertToken.run(name, seal(tenantKey, key, name), seal(key, JSON.stringify({ id: n, filling }), name));
  }
})();

let waiting = [];
function record(name, trace) {
  return new Promise((resolve) => {
    waiting.push({ name, trace, resolve });
    if (waiting.length === 1) setImmediate(commitAll);
  });
}

function commitAll() {
  const group = waiting;
  waiting = [];
  begin.run();
  for (const { name, trace } of group) insertRecord.run(name, Date.now(), trace);
  commit.run();
  for (const { resolve } of group) resolve();
}

const known = new Set();
const app = fastify();
app.get('/tokens/:id', async (request, reply) => {
  const caller = createHash('sha256').update(request.headers['service-api-key']).digest('hex');
  known.add(caller);
  const name = nameOf(request.params.id);
  const { key, content } = find.get(name);
  const token = JSON.parse(open(open(tenantKey, key, name), content, name).toString('utf8'));
  await record(name, seal(auditKey, request.id, name));
  return reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(token));
});
await listen(app);
