import { randomBytes } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { connectMongo, type MongoConnection } from '#src/adapters/mongodb/connection.js';

export function mongoUrl(): string {
  const url = process.env['STRONGROOM_TEST_MONGODB_URL'];
  if (url === undefined) throw new Error('STRONGROOM_TEST_MONGODB_URL names no MongoDB to test with');
  return url;
}

export function newDatabaseName(): string {
  return `strongroom_test_${randomBytes(8).toString('hex')}`;
}

/** A connection to a database of this test, both gone when it ends. Further ones to the same database by its name. */
export async function connectForTest(name = newDatabaseName()): Promise<MongoConnection> {
  const connection = await connectMongo(mongoUrl(), name);
  onTestFinished(async () => {
    await connection.db.dropDatabase();
    await connection.close();
  });
  return connection;
}
