// Prepares MongoDB for the cluster profile: initiates the replica set when there is none yet, and makes the users of rows
// and keys with no more rights than they need. Again it sets passwords and rights anew and changes nothing else.
//
//   node scripts/prepare-mongodb.mjs ADMIN_URL_FILE ROWS_URL_FILE KEYS_URL_FILE [DATABASE]
//
// Each file holds an address with user and password. The hosts of the second one become the members of a new set; a server
// alone is set up through the first one. DATABASE: the setting mongodb.database.
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { MongoClient, MongoServerError } from 'mongodb';

const alreadyInitialized = 23;
const limitMs = 60_000;
const [adminFile, rowsFile, keysFile, database = 'strongroom'] = process.argv.slice(2);
if (adminFile === undefined || rowsFile === undefined || keysFile === undefined) {
  console.error('usage: node scripts/prepare-mongodb.mjs ADMIN_URL_FILE ROWS_URL_FILE KEYS_URL_FILE [DATABASE]');
  process.exit(2);
}

const using = ['find', 'insert', 'createCollection', 'createIndex', 'listCollections', 'listIndexes'];
const changing = ['update', 'remove'];
/** An entry of the access log is never changed or removed, and so nobody may; its months are dropped whole. */
const changed = [
  'generations',
  'directory',
  'checkpoints',
  'claims',
  'fingerprint_claims',
  'batches',
  'read_proofs',
  'budgets',
];
/** Each rebuild makes rows under the next number. A right is for one name, so that nobody may change the access log. */
const rebuildsAhead = 100;

/** What both users may do; `newest`: the highest number of rows that were made. */
const rolesWith = (newest) => [
  {
    ...{ user: userOf(rowsFile), role: 'strongroomRows' },
    privileges: [
      { resource: { db: database, collection: '' }, actions: [...using, 'dropCollection'] },
      ...[...changed, ...rowsUpTo(newest + rebuildsAhead)].map((collection) => ({
        resource: { db: database, collection },
        actions: changing,
      })),
    ],
  },
  {
    ...{ user: userOf(keysFile), role: 'strongroomKeys' },
    // A key is destroyed by an update; the row of a key is never removed.
    privileges: [{ resource: { db: `${database}_keys`, collection: '' }, actions: [...using, 'update'] }],
  },
];

await initiate();
await makeUsers();

function textOf(file) {
  return readFileSync(file, 'utf8').trim();
}

function userOf(file) {
  const found = /^mongodb(?:\+srv)?:\/\/([^:@/]+):([^@/]+)@([^/?]+)/.exec(textOf(file));
  if (found === null) throw new Error(`${file} holds no address with user and password`);
  const [, name = '', password = '', hosts = ''] = found;
  return { name: decodeURIComponent(name), password: decodeURIComponent(password), hosts: hosts.split(',') };
}

async function initiate() {
  const client = new MongoClient(textOf(adminFile), { directConnection: true });
  const admin = client.db('admin');
  try {
    const members = userOf(rowsFile).hosts.map((host, index) => ({ _id: index, host }));
    await admin.command({ replSetInitiate: { _id: 'rs0', members } });
    console.log(`initiated the replica set of ${members.map(({ host }) => host).join(', ')}`);
  } catch (error) {
    if (!(error instanceof MongoServerError) || error.code !== alreadyInitialized) throw error;
  }
  for (const until = Date.now() + limitMs; !(await hasPrimary(admin)); await wait(200)) {
    if (Date.now() > until) throw new Error(`the replica set chose no primary within ${limitMs} ms`);
  }
  await client.close();
}

async function hasPrimary(admin) {
  return (await admin.command({ hello: 1 })).primary !== undefined;
}

function rowsUpTo(newest) {
  return Array.from({ length: newest }, (_, index) => `token_rows_${index + 1}`);
}

async function newestRows(client) {
  const made = await client
    .db(database)
    .listCollections({ name: /^token_rows_\d+$/ }, { nameOnly: true })
    .toArray();
  return Math.max(1, ...made.map(({ name }) => Number(name.slice('token_rows_'.length))));
}

async function makeUsers() {
  const { name, password } = userOf(adminFile);
  const client = new MongoClient(textOf(rowsFile), { auth: { username: name, password } });
  const admin = client.db('admin');
  for (const { user, role, privileges } of rolesWith(await newestRows(client))) {
    const hasRole = (await admin.command({ rolesInfo: role })).roles.length > 0;
    await admin.command({ [hasRole ? 'updateRole' : 'createRole']: role, privileges, roles: [] });
    const hasUser = (await admin.command({ usersInfo: user.name })).users.length > 0;
    await admin.command({ [hasUser ? 'updateUser' : 'createUser']: user.name, pwd: user.password, roles: [role] });
    console.log(`${hasUser ? 'updated' : 'made'} the user ${user.name}`);
  }
  await client.close();
}
