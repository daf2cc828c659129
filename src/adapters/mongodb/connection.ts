import {
  type Db,
  MongoClient,
  type MongoClientOptions,
  MongoServerError,
  type ServerDescription,
  type TopologyDescription,
} from 'mongodb';
import { type FoundProblem, StoreProblem } from '../../ports/store-problem.js';
import { withinLimit } from '../time-limit/within-limit.js';
import { leftTransactions } from './left-transactions.js';
import { mongoError } from './mongo-error.js';

/** Beyond the driver's own limits, which a frozen server does not keep. */
const callLimitMs = 5_000;
/** Whoever waits longer looks each time whether a transaction is in its way that nobody goes on with. */
const patienceMs = 1_000;

/**
 * One database of the replica set: reads see what a majority has, from the primary alone; writes are answered when a
 * majority has journalled them. The outcome of a write that throws StoreUnavailable is unknown.
 */
export type MongoConnection = {
  readonly db: Db;
  /** Runs one or more operations under a limit of 5 s. Throws StoreUnavailable or DuplicateKey, no error of the driver. */
  call<T>(work: (db: Db) => Promise<T>): Promise<T>;
  /**
   * Whether the primary, by address and election, is the one that it was at a time (`performance.now()`). To be asked after
   * a write that a majority acknowledged: then what was read since that time was current. A deposed primary goes on
   * answering reads for seconds.
   */
  primaryIsSince(time: number): boolean;
  /** Calls whenever the primary is another one, elected again, or gone. */
  onPrimaryChanged(listener: () => void): void;
  /** The time of the primary, ms since the epoch. */
  primaryTime(): Promise<number>;
  close(): Promise<void>;
};

/**
 * Connects to a replica set. Throws StoreUnavailable when it does not answer, and MongoBroken for a standalone server, on
 * which no write is durable in the sense of docs/design.md, "Promises".
 */
export async function connectMongo(url: string, databaseName: string): Promise<MongoConnection> {
  // With the database, so that a vault ends no transactions of another one.
  const appName = `strongroom ${databaseName}`;
  const client = clientOf(url, appName);
  const left = leftTransactions(client, appName);
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
  // Without a listener an error of the client would end the process.
  client.on('error', () => undefined);

  async function call<T>(work: (db: Db) => Promise<T>): Promise<T> {
    const looking = setInterval(left.end, patienceMs);
    try {
      return await withinLimit('mongodb', callLimitMs, work(db));
    } catch (error) {
      throw refusalOf(error) ?? mongoError(error);
    } finally {
      clearInterval(looking);
    }
  }

  const db = client.db(databaseName);
  try {
    await call(() => client.connect());
    const { setName } = await call((database) => database.command({ hello: 1 }));
    if (typeof setName !== 'string') throw new MongoBroken(standalone);
  } catch (error) {
    await client.close().catch(() => undefined);
    throw error;
  }
  return {
    ...{ db, call },
    primaryIsSince: (time) => primarySince <= time,
    onPrimaryChanged: (listener) => void listeners.push(listener),
    async primaryTime() {
      const { localTime } = await call((database) => database.command({ hello: 1 }));
      return (localTime as Date).getTime();
    },
    close: () => client.close(),
  };
}

function clientOf(url: string, appName: string): MongoClient {
  try {
    return new MongoClient(url, { ...options, appName });
  } catch {
    // The driver's message may quote the address, which holds a password.
    throw new MongoBroken(unreadable);
  }
}

const options: MongoClientOptions = {
  readPreference: 'primary',
  readConcern: { level: 'majority' },
  writeConcern: { w: 'majority', journal: true },
  retryWrites: true,
  retryReads: true,
  // A frozen primary is noticed within three seconds.
  heartbeatFrequencyMS: 1_000,
  connectTimeoutMS: 2_000,
  serverSelectionTimeoutMS: callLimitMs,
  socketTimeoutMS: callLimitMs,
  // Binary values come back as Buffers, whole numbers as numbers: no value of ours needs more than 2^53.
  promoteBuffers: true,
  promoteLongs: true,
  ignoreUndefined: false,
};

/** What trying again does not mend: the server refuses the user, or a file that the address names is not there. */
function refusalOf(error: unknown): MongoBroken | null {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (error instanceof MongoServerError) {
    if (code === authenticationFailed) return new MongoBroken(unknownUser);
    return code === unauthorized ? new MongoBroken(lacksRights) : null;
  }
  return code === 'ENOENT' || code === 'EACCES' ? new MongoBroken(unreadable) : null;
}

const authenticationFailed = 18;
const unauthorized = 13;
const unreadable =
  'the address of MongoDB cannot be used: check mongodb.url and mongodb.keys_url, their options, and that the files which ' +
  'they name can be read.';
const unknownUser =
  'MongoDB does not know this user with this password. Check name, password and authSource in mongodb.url and ' +
  'mongodb.keys_url.';
const lacksRights =
  'the user of mongodb.url or mongodb.keys_url lacks a right in MongoDB. `strongroom cluster prepare` gives both what ' +
  'they need.';

/** MongoDB cannot be used as it is set up. The message says what to do. */
export class MongoBroken extends StoreProblem {
  constructor(problem: string | FoundProblem) {
    super(problem);
    this.name = 'MongoBroken';
  }
}

const standalone =
  'MongoDB runs without a replica set, so that a write could be lost after its answer. Start it with --replSet and ' +
  'initiate the set (one node is enough).';

function primaryOf({ servers }: TopologyDescription): string | null {
  const found = [...servers.values()].find((server: ServerDescription) => server.type === 'RSPrimary');
  return found === undefined
    ? null
    : `${found.address} ${found.electionId?.toString() ?? ''} ${found.setVersion ?? ''}`;
}
