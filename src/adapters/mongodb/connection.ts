import {
  type Db,
  MongoClient,
  type MongoClientOptions,
  MongoServerError,
  type ServerDescription,
  type TopologyDescription,
} from 'mongodb';
import { type FoundProblem, rightsCheck, StoreProblem } from '../../ports/store-problem.js';
import { withinLimit } from '../shared/within-limit.js';
import { endLeftTransactions } from './left-transactions.js';
import { mongoError } from './mongo-error.js';

/** The time limit for a call, in ms. The driver's own time limits do not end a call to a frozen server. */
const callLimitMs = 5_000;
/** At this interval (in ms), a pending call ends abandoned transactions that could be blocking it. */
const lookEveryMs = 1_000;

/**
 * A connection to one database of the replica set. Reads go to the primary and return only data that a majority of the
 * nodes has stored. A write completes after a majority of the nodes has written it to the journal. If a write throws
 * StoreUnavailable, it is unknown whether the write took effect.
 */
export type MongoConnection = {
  readonly db: Db;
  /**
   * Runs one or more operations with a total time limit of `limitMs`, which is 5 s by default. Each response of the
   * server must arrive within 5 s. Converts driver errors to our own errors. Throws StoreUnavailable, DuplicateKey or
   * MongoBroken.
   */
  call<T>(work: (db: Db) => Promise<T>, limitMs?: number): Promise<T>;
  /**
   * Returns true if the primary has not changed and has not been reelected since `time` (`performance.now()`). Threat:
   * for a few seconds, a deposed primary still serves reads that return outdated data. Call this function after a write
   * that a majority has acknowledged. If it returns true, everything that was read since `time` was current.
   */
  primaryIsSince(time: number): boolean;
  /** Registers a listener that is called whenever the primary changes, is reelected or is lost. */
  onPrimaryChanged(listener: () => void): void;
  /** Returns the current time of the primary, in ms since the epoch. */
  primaryTime(): Promise<number>;
  close(): Promise<void>;
};

/**
 * Connects to a replica set. Throws StoreUnavailable if the replica set does not respond. Throws MongoBroken if the
 * server is not part of a replica set, because writes to a standalone server are less durable than docs/design.md,
 * "Promises", requires.
 */
export async function connectMongo(url: string, databaseName: string): Promise<MongoConnection> {
  // The application name contains the database name. A vault therefore never ends another vault's transactions on the
  // same server.
  const appName = `strongroom ${databaseName}`;
  const client = clientOf(url, { ...options, appName });
  // An address takes precedence over `options` for parts of the write concern and for the read concern.
  const { readConcern, writeConcern } = client.options;
  if (readConcern?.level !== 'majority' || writeConcern?.journal !== true || writeConcern.wtimeoutMS !== undefined) {
    throw new MongoBroken(weakened);
  }
  const endLeft = endLeftTransactions(client, appName);
  const listeners: (() => void)[] = [];
  let primary: string | null = null;
  let primarySince = Number.POSITIVE_INFINITY;
  client.on('topologyDescriptionChanged', ({ newDescription }) => {
    const now = primaryOf(newDescription);
    if (now === primary) return;
    primary = now;
    primarySince = now === null ? Number.POSITIVE_INFINITY : performance.now();
    for (const listener of listeners) listener();
  });
  // Without a listener, an error event from the client would terminate the process.
  client.on('error', () => undefined);

  async function call<T>(work: (db: Db) => Promise<T>, limitMs = callLimitMs): Promise<T> {
    const looking = setInterval(endLeft, lookEveryMs);
    try {
      return await withinLimit('mongodb', limitMs, work(db));
    } catch (error) {
      throw refusalOf(error) ?? mongoError(error);
    } finally {
      clearInterval(looking);
    }
  }

  const db = client.db(databaseName);
  try {
    await call(() => client.connect());
    const { setName, isWritablePrimary } = await call((database) => database.command({ hello: 1 }));
    if (typeof setName !== 'string') throw new MongoBroken(standalone);
    // With `directConnection`, the driver uses the server in the address, even if the server is not the primary.
    if (isWritablePrimary !== true && client.options.directConnection) throw new MongoBroken(notPrimary);
  } catch (error) {
    await client.close().catch(() => undefined);
    throw error;
  }
  return {
    db,
    call,
    primaryIsSince: (time) => primarySince <= time,
    onPrimaryChanged: (listener) => void listeners.push(listener),
    async primaryTime() {
      const { localTime } = await call((database) => database.command({ hello: 1 }));
      return (localTime as Date).getTime();
    },
    close: () => client.close(),
  };
}

/** Creates a client that has not connected yet. Throws MongoBroken if the address cannot be used. */
export function clientOf(url: string, clientOptions: MongoClientOptions): MongoClient {
  try {
    return new MongoClient(url, clientOptions);
  } catch {
    // Does not pass on the driver's message, because it can contain the address and the password.
    throw new MongoBroken(unreadable);
  }
}

const options: MongoClientOptions = {
  readPreference: 'primary',
  readConcern: { level: 'majority' },
  writeConcern: { w: 'majority', journal: true },
  retryWrites: true,
  retryReads: true,
  // With these two values, the driver detects a frozen primary within three seconds.
  heartbeatFrequencyMS: 1_000,
  connectTimeoutMS: 2_000,
  serverSelectionTimeoutMS: callLimitMs,
  socketTimeoutMS: callLimitMs,
  // Makes the driver return binary values as Buffers and 64-bit integers as numbers. The numbers are exact, because no
  // value in the vault exceeds 2^53.
  promoteBuffers: true,
  promoteLongs: true,
  ignoreUndefined: false,
};

/**
 * Returns a MongoBroken for an error that a retry would not fix: the server rejects the user, or a file named in the
 * address cannot be read. Returns null for any other error.
 */
export function refusalOf(error: unknown): MongoBroken | null {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (error instanceof MongoServerError) {
    if (code === authenticationFailed) return new MongoBroken(unknownUser);
    return code === unauthorized ? new MongoBroken(lacksRights(error.message)) : null;
  }
  return code === 'ENOENT' || code === 'EACCES' ? new MongoBroken(unreadable) : null;
}

const authenticationFailed = 18;
const unauthorized = 13;
const weakened =
  'mongodb.url or mongodb.keys_url sets journal, readConcernLevel or wtimeoutMS: remove these options. The vault sets ' +
  'them itself, because weaker ones would lose acknowledged changes or return changes that are rolled back.';
const unreadable =
  'the address of MongoDB cannot be used: check mongodb.url, mongodb.keys_url and the address of the administrator, ' +
  'if any, their options, and that the files that they name can be read.';
const unknownUser = {
  check: rightsCheck,
  says: 'MongoDB does not know this user with this password',
  do: 'Check name, password and authSource in mongodb.url and mongodb.keys_url',
} satisfies FoundProblem;

/**
 * Returns the problem of a user without a permission. From the server's message, includes only the operation and the
 * collection, because the rest can contain documents.
 */
function lacksRights(message: string): FoundProblem {
  const [, database, operation, collection] = deniedPattern.exec(message) ?? [];
  const what = database === undefined ? '' : `: ${operation} in ${database}.${collection}`;
  return {
    check: rightsCheck,
    says: `the user of mongodb.url or mongodb.keys_url lacks a permission in MongoDB${what}`,
    do: '`strongroom cluster prepare` gives both what they need; `strongroom doctor` lists what they lack',
  };
}

const deniedPattern = /^not authorized on ([\w-]{1,64}) to execute command \{ (\w{1,32}): "([\w.-]{1,120})"/;

/**
 * Thrown when MongoDB is configured in a way that the vault cannot use. The message tells the operator how to fix it.
 */
export class MongoBroken extends StoreProblem {
  constructor(problem: string | FoundProblem) {
    super(problem);
    this.name = 'MongoBroken';
  }
}

const standalone =
  'MongoDB runs without a replica set, so an acknowledged write could be lost. Start it with --replSet and ' +
  'initiate the set (one node is enough).';

const notPrimary = {
  check: 'stores',
  says: 'mongodb.url or mongodb.keys_url has directConnection=true and names a server that is not the primary',
  do: 'Remove directConnection from the address, and list all nodes of the replica set',
} satisfies FoundProblem;

function primaryOf({ servers }: TopologyDescription): string | null {
  const found = [...servers.values()].find((server: ServerDescription) => server.type === 'RSPrimary');
  return found === undefined
    ? null
    : `${found.address} ${found.electionId?.toString() ?? ''} ${found.setVersion ?? ''}`;
}
