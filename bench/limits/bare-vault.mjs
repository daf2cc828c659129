// Does only the work that a vault cannot do without.
//   get in plaintext: hashes the key and the id, reads one row from SQLite, opens its data key and content, and writes
//     a sealed and durable record of the read
//   page: the same for each of its tokens
//   search: the same as a page, and also hashes the term and reads its postings
//   create: computes the keyed hashes, seals content and key, and stores event, row, key and postings in one durable
//     commit
// It has no rules, checks, expiry, generations, metrics or request log, and uses one file and one thread. It creates
// `COUNT` tokens, as the benchmark imports them. The response for each has about `BYTES`.
//   node bench/limits/bare-vault.mjs DIRECTORY COUNT BYTES
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { fastify } from 'fastify';
import { storedToken } from '../load/requests.mjs';
import { listen } from './listen.mjs';

const [directory, count, bytes] = process.argv.slice(2);
const [namesKey, searchKey, tenantKey, auditKey] = Array.from({ length: 4 }, () => randomBytes(32));
const pageSize = 20;
const openKeysMax = 10_000;

const db = new Database(join(directory, `bare-vault-${process.pid}.db`));
db.pragma('journal_mode = WAL');
db.pragma('synchronous = FULL');
db.exec(`CREATE TABLE events (position INTEGER PRIMARY KEY, stream TEXT NOT NULL UNIQUE, chain BLOB NOT NULL, content BLOB NOT NULL);
  CREATE TABLE tokens (position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, content BLOB NOT NULL);
  CREATE TABLE keys (position INTEGER PRIMARY KEY, wrapped BLOB NOT NULL);
  CREATE TABLE postings (term BLOB, position INTEGER, PRIMARY KEY (term, position)) WITHOUT ROWID;
  CREATE TABLE records (id INTEGER PRIMARY KEY, name TEXT NOT NULL, time INTEGER NOT NULL, trace BLOB NOT NULL);
  CREATE INDEX records_name ON records (name, time)`);
const insertEvent = db.prepare('INSERT INTO events (position, stream, chain, content) VALUES (?, ?, ?, ?)');
const insertToken = db.prepare('INSERT INTO tokens (position, name, content) VALUES (?, ?, ?)');
const insertKey = db.prepare('INSERT INTO keys (position, wrapped) VALUES (?, ?)');
const insertPosting = db.prepare('INSERT INTO postings (term, position) VALUES (?, ?)');
const insertRecord = db.prepare('INSERT INTO records (name, time, trace) VALUES (?, ?, ?)');
const byName = db.prepare('SELECT position, name, content FROM tokens WHERE name = ?');
const byPosition = db.prepare('SELECT position, name, content FROM tokens WHERE position = ?');
const newest = db.prepare('SELECT position, name, content FROM tokens ORDER BY position DESC LIMIT ?');
const findKey = db.prepare('SELECT wrapped FROM keys WHERE position = ?').pluck();
const found = db.prepare('SELECT position FROM postings WHERE term = ? ORDER BY position DESC LIMIT ?').pluck();
const counted = db.prepare('SELECT count(*) FROM postings WHERE term = ?').pluck();
const begin = db.prepare('BEGIN IMMEDIATE');
const commit = db.prepare('COMMIT');

const hashOf = (key, text) => createHmac('sha256', key).update(text).digest();
const nameOf = (id) => hashOf(namesKey, id).toString('hex');
const termOf = (text) => hashOf(searchKey, text).subarray(0, 16);

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

/** Caches opened keys, as the vault does for a minute. */
const openKeys = new Map();

function tokenIn({ position, name, content }) {
  const key = openKeys.get(position) ?? open(tenantKey, findKey.get(position), name);
  if (openKeys.size === openKeysMax) openKeys.clear();
  openKeys.set(position, key);
  return JSON.parse(open(key, content, name).toString('utf8'));
}

/** The terms that all tokens share are hashed once. */
const sharedTerms = ['all', 'type', 'created_by', 'container', 'within'].map(termOf);

/** Prepares everything of a new token that needs no store. */
function sealed(token) {
  const name = nameOf(token.id);
  const key = randomBytes(32);
  const value = typeof token.data === 'string' ? token.data : token.data.number;
  const fingerprint = hashOf(namesKey, value).toString('base64');
  // The hash of the fingerprint stands for the index by which equal tokens are found.
  const own = [token.id, fingerprint, nameOf(fingerprint), value, ...Object.values(token.metadata)].map(termOf);
  const content = seal(key, JSON.stringify({ ...token, fingerprint }), name);
  return { name, content, wrapped: seal(tenantKey, key, name), terms: [...sharedTerms, ...own] };
}

let head = 0;
let chain = Buffer.alloc(32);

function store({ name, content, wrapped, terms }) {
  head += 1;
  chain = createHash('sha256').update(chain).update(content).digest();
  insertEvent.run(head, name, chain, content);
  insertToken.run(head, name, content);
  insertKey.run(head, wrapped);
  for (const term of terms) insertPosting.run(term, head);
}

const filled = (token) => ({
  ...token,
  filling: 'x'.repeat(Math.max(0, Number(bytes) - JSON.stringify(token).length)),
});
// Only while the database is filled.
db.pragma('cache_size = -400000');
db.transaction(() => {
  for (let n = 0; n < Number(count); n++) store(sealed(filled(storedToken(n))));
})();
db.pragma('wal_checkpoint(TRUNCATE)');
db.pragma('cache_size = -16000');

let waiting = [];
/** Resolves when the writes of `work` are durable, in one commit with all other waiting work. */
function durably(work) {
  return new Promise((resolve) => {
    waiting.push({ work, resolve });
    if (waiting.length === 1) setImmediate(commitAll);
  });
}

function commitAll() {
  const group = waiting;
  waiting = [];
  begin.run();
  for (const { work } of group) work();
  commit.run();
  for (const { resolve } of group) resolve();
}

/** Returns a record for each token that is shown. The trace id is sealed once. */
function recorded(names, traceId) {
  const trace = seal(auditKey, traceId, names[0] ?? '');
  return durably(() => {
    for (const name of names) insertRecord.run(name, Date.now(), trace);
  });
}

const known = new Set();
const caller = (request) => known.add(createHash('sha256').update(request.headers['service-api-key']).digest('hex'));
const send = (reply, status, body) =>
  reply.code(status).header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(body));

async function sendPage(request, reply, rows, total) {
  const data = rows.map(tokenIn);
  await recorded(
    rows.map(({ name }) => name),
    request.id,
  );
  return send(reply, 200, { data, total });
}

const app = fastify();
app.get('/tokens/:id', async (request, reply) => {
  caller(request);
  const row = byName.get(nameOf(request.params.id));
  const token = tokenIn(row);
  await recorded([row.name], request.id);
  return send(reply, 200, token);
});
app.get('/tokens', async (request, reply) => {
  caller(request);
  return sendPage(request, reply, newest.all(pageSize), head);
});
app.post('/tokens/search', async (request, reply) => {
  caller(request);
  const term = termOf(/"(.*)"/.exec(request.body.query)[1]);
  const rows = found.all(term, pageSize).map((position) => byPosition.get(position));
  return sendPage(request, reply, rows, counted.get(term));
});
app.post('/tokens', async (request, reply) => {
  caller(request);
  const token = { ...filled(request.body), id: randomUUID() };
  const made = sealed(token);
  await durably(() => store(made));
  return send(reply, 201, token);
});
await listen(app);
