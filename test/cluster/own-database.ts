import { randomBytes } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { connectMongo, type MongoConnection } from '#src/adapters/mongodb/connection.js';

export const mongoUrl = process.env['STRONGROOM_TEST_MONGODB_URL'] ?? 'mongodb://127.0.0.1:27117/?replicaSet=rs0';

/** A MongoDB database that belongs to one test. */
export type MongoDatabase = {
  readonly connection: MongoConnection;
  /** Opens a second connection to this database, as another process would. The caller must close the connection. */
  connect(): Promise<MongoConnection>;
  drop(): Promise<void>;
};

export async function mongoDatabase(): Promise<MongoDatabase> {
  const name = `strongroom_test_${randomBytes(8).toString('hex')}`;
  const connect = () => connectMongo(mongoUrl, name);
  const connection = await connect();
  return {
    connection,
    connect,
    async drop() {
      // A process that the test killed may have left an open transaction. Such a transaction locks the database until
      // this call aborts it.
      await connection.call((db) => db.dropDatabase());
      await connection.close();
    },
  };
}

/** Creates a database for one test, and removes it when the test ends. */
export async function databaseOfTest(): Promise<MongoDatabase> {
  const database = await mongoDatabase();
  onTestFinished(database.drop);
  const connect = async () => {
    const connection = await database.connect();
    onTestFinished(connection.close);
    return connection;
  };
  return { ...database, connect };
}
