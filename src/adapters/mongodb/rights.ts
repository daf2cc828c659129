import { setTimeout as wait } from 'node:timers/promises';
import {
  type Db,
  type MongoClient,
  type MongoClientOptions,
  MongoServerError,
  MongoServerSelectionError,
} from 'mongodb';
import { clientOf, MongoBroken, refusalOf } from './connection.js';
import { newestGeneration } from './key-store/generation-keys.js';
import { keysDatabase } from './key-store/key-collections.js';
import { mongoError } from './mongo-error.js';
import { tokenRowsCollection, tokenRowsCollections, tokenRowsPattern } from './token-rows/token-rows-indexes.js';

const alreadyInitialized = 23;
const primaryMs = 60_000;
const timeouts = { serverSelectionTimeoutMS: 10_000, connectTimeoutMS: 5_000 };
const directly = { directConnection: true, ...timeouts };

type Privilege = {
  readonly resource: { readonly db: string; readonly collection: string };
  readonly actions: readonly string[];
};
type User = { readonly name: string; readonly password: string; readonly hosts: readonly string[] };
type Urls = { readonly rows: string; readonly keys: string };

const using = ['find', 'insert', 'createCollection', 'createIndex', 'listCollections', 'listIndexes'];
const changing = ['update', 'remove'];
/**
 * The collections whose documents the vault can change and remove. The collections of the access log are not in this
 * list, because no user has the privilege to change or remove an entry. Instead, a month's collection is dropped as a
 * whole.
 */
const changed = [
  'generations',
  'directory',
  'checkpoints',
  'claims',
  'fingerprint_claims',
  'batches',
  'read_proofs',
  'budgets',
  'webhook_states',
  'webhook_ids',
  'console_sessions',
  'daily_counts',
  'daily_positions',
];
/**
 * Privileges are granted in advance for this many future generations. Each rebuild creates a collection of rows with
 * the next number. Privileges are granted separately for each collection, because a privilege on the whole database
 * would also allow changes to the access log.
 */
const rebuildsAhead = 100;

function rowsPrivileges(database: string, newest: number): readonly Privilege[] {
  const rows = Array.from({ length: newest + rebuildsAhead }, (_, index) => tokenRowsCollection(index + 1));
  return [
    { resource: { db: database, collection: '' }, actions: [...using, 'dropCollection'] },
    ...[...changed, ...rows].map((collection) => ({ resource: { db: database, collection }, actions: changing })),
  ];
}

function keysPrivileges(database: string): readonly Privilege[] {
  // No privilege to remove documents is needed, because a key is destroyed by updating its document.
  return [{ resource: { db: keysDatabase(database), collection: '' }, actions: [...using, 'update'] }];
}

/**
 * Initiates the replica set if it does not exist. Creates the database users for the rows and for the keys, with only
 * the privileges that they need. Calling it again only resets the passwords and privileges. Returns one line of text
 * for each step. Throws MongoBroken.
 */
export async function prepareMongo(
  adminUrl: string,
  { rows, keys }: Urls,
  database: string,
): Promise<readonly string[]> {
  const admin = userOf(adminUrl, 'the address of the administrator');
  const rowsUser = userOf(rows, 'mongodb.url');
  const keysUser = userOf(keys, 'mongodb.keys_url');
  if ([rowsUser.name, keysUser.name].includes(admin.name)) {
    throw new MongoBroken('mongodb.url or mongodb.keys_url names the administrator. Give the vault users of its own.');
  }
  try {
    const lines = await initiate(await firstThatResponds(adminUrl, admin.hosts), rowsUser.hosts);
    const asAdmin = { auth: { username: admin.name, password: admin.password }, ...timeouts };
    const newest = Math.max(
      await withClient(rows, asAdmin, (client) => newestRows(client.db(database))),
      await withClient(keys, asAdmin, (client) => newestGeneration(client.db(keysDatabase(database)))),
    );
    const roles = [
      { url: rows, user: rowsUser, role: 'strongroomRows', privileges: rowsPrivileges(database, newest) },
      { url: keys, user: keysUser, role: 'strongroomKeys', privileges: keysPrivileges(database) },
    ];
    let granted: readonly string[] = [];
    for (const { url, user, role, privileges } of roles) {
      // If the two addresses are the same, one user has both roles.
      granted = rows === keys ? [...granted, role] : [role];
      lines.push(await withClient(url, asAdmin, (client) => setUser(client, user, role, privileges, granted)));
    }
    return [...new Set(lines)].map((line) => `MongoDB: ${line}`);
  } catch (error) {
    if (error instanceof MongoServerError)
      throw new MongoBroken(
        `MongoDB rejected a step of the preparation as ${admin.name}: ${error.codeName ?? error.code}. ` +
          'Check that this user is an administrator.',
      );
    if (error instanceof MongoServerSelectionError) {
      throw new MongoBroken(
        'MongoDB does not respond at the address of the administrator or at mongodb.url. Check hosts and certificates.',
      );
    }
    throw refusalOf(error) ?? error;
  }
}

/** How the privileges of the database users differ from those that the vault needs. */
type Differences = { readonly excess: readonly string[]; readonly lacking: readonly string[] };

/**
 * Compares the privileges of the database users for the rows and the keys with those that the vault needs. If the
 * server has no users, there are no differences.
 */
export async function compareRightsInMongo({ rows, keys }: Urls, database: string): Promise<Differences> {
  const needed = { rows: rowsPrivileges(database, 1), keys: keysPrivileges(database) };
  if (rows === keys) return differencesOf(rows, [...needed.rows, ...needed.keys]);
  const both = [await differencesOf(rows, needed.rows), await differencesOf(keys, needed.keys)];
  return {
    excess: both.flatMap(({ excess }) => excess),
    lacking: both.flatMap(({ lacking }) => lacking),
  };
}

async function differencesOf(url: string, needed: readonly Privilege[]): Promise<Differences> {
  const { users, held } = await withClient(url, timeouts, async (client) => {
    const { authInfo } = await client.db('admin').command({ connectionStatus: 1, showPrivileges: true });
    return {
      users: authInfo.authenticatedUsers as readonly unknown[],
      held: authInfo.authenticatedUserPrivileges as readonly Privilege[],
    };
  }).catch((error: unknown) => {
    throw refusalOf(error) ?? mongoError(error);
  });
  return { excess: excessOf(held, needed), lacking: users.length === 0 ? [] : lackingOf(held, needed) };
}

function lackingOf(held: readonly Privilege[], needed: readonly Privilege[]): readonly string[] {
  return needed.flatMap(({ resource: { db, collection }, actions }) => {
    // In a privilege, an empty name stands for every database or every collection.
    const here = held.filter(
      ({ resource }) => ['', db].includes(resource.db) && ['', collection].includes(resource.collection),
    );
    const allowed = here.flatMap((privilege) => privilege.actions);
    const missing = actions.filter((action) => !allowed.includes(action));
    return missing.length === 0 ? [] : [`${missing.join(', ')} in ${db}${collection && `.${collection}`}`];
  });
}

function excessOf(held: readonly Privilege[], needed: readonly Privilege[]): readonly string[] {
  return held.flatMap(({ resource, actions }) => {
    const { db, collection } = resource;
    const name = tokenRowsPattern.test(collection ?? '') ? tokenRowsCollection(1) : collection;
    const allowed = needed
      .filter(({ resource: of }) => of.db === db && (of.collection === '' || of.collection === name))
      .flatMap((privilege) => privilege.actions);
    const beyond = actions.filter((action) => !allowed.includes(action));
    const [first] = beyond;
    if (first === undefined) return [];
    const where = db === undefined ? 'the cluster' : `${db || 'every database'}${collection ? `.${collection}` : ''}`;
    return [`${first}${beyond.length === 1 ? '' : ` and ${beyond.length - 1} more`} in ${where}`];
  });
}

/** Returns the user and the hosts in an address. Throws MongoBroken if the address lacks a user or a password. */
function userOf(url: string, what: string): User {
  const [, name, password, hosts] = /^mongodb(?:\+srv)?:\/\/([^:@/]+):([^@/]+)@([^/?]+)/.exec(url) ?? [];
  if (name === undefined || password === undefined || hosts === undefined) {
    throw new MongoBroken(`${what} needs a user and a password.`);
  }
  return { name: decodeURIComponent(name), password: decodeURIComponent(password), hosts: hosts.split(',') };
}

/**
 * Returns `adminUrl` with only the first of its hosts that responds. A replica set is initiated through a connection to
 * one server, but the address of the administrator may list all of them, as `mongodb.url` does.
 */
async function firstThatResponds(adminUrl: string, [host = '', ...others]: readonly string[]): Promise<string> {
  const url = adminUrl.replace(/@[^/?]+/, `@${host}`);
  if (others.length === 0) return url;
  try {
    return await withClient(url, directly, async () => url);
  } catch (error) {
    if (!(error instanceof MongoServerSelectionError)) throw error;
    return firstThatResponds(adminUrl, others);
  }
}

/** Initiates a replica set that has `hosts` as its members. Connects directly to the server in `adminUrl`. */
async function initiate(adminUrl: string, hosts: readonly string[]): Promise<string[]> {
  return withClient(adminUrl, directly, async (client) => {
    const admin = client.db('admin');
    const lines: string[] = [];
    try {
      const members = hosts.map((host, index) => ({ _id: index, host }));
      await admin.command({ replSetInitiate: { _id: 'rs0', members } });
      lines.push(`initiated the replica set of ${hosts.join(', ')}`);
    } catch (error) {
      if (!(error instanceof MongoServerError) || error.code !== alreadyInitialized) throw error;
    }
    for (const until = performance.now() + primaryMs; !(await hasPrimary(admin)); await wait(200)) {
      if (performance.now() > until)
        throw new MongoBroken(
          'the replica set of MongoDB elected no primary within a minute. Check that its nodes run and reach each ' +
            'other, then run this again.',
        );
    }
    return lines;
  });
}

async function hasPrimary(admin: Db): Promise<boolean> {
  return (await admin.command({ hello: 1 }))['primary'] !== undefined;
}

async function newestRows(db: Db): Promise<number> {
  const names = await tokenRowsCollections(db);
  return Math.max(1, ...names.map((name) => Number(name.slice('token_rows_'.length))));
}

async function setUser(
  client: MongoClient,
  { name, password }: User,
  role: string,
  privileges: readonly Privilege[],
  roles: readonly string[],
): Promise<string> {
  const admin = client.db('admin');
  const hasRole = (await admin.command({ rolesInfo: role }))['roles'].length > 0;
  await admin.command({ [hasRole ? 'updateRole' : 'createRole']: role, privileges, roles: [] });
  const hasUser = (await admin.command({ usersInfo: name }))['users'].length > 0;
  await admin.command({ [hasUser ? 'updateUser' : 'createUser']: name, pwd: password, roles });
  return `${hasUser ? 'updated' : 'created'} the user ${name}`;
}

async function withClient<T>(
  url: string,
  options: MongoClientOptions,
  use: (client: MongoClient) => Promise<T>,
): Promise<T> {
  const client = clientOf(url, options);
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.close();
  }
}
