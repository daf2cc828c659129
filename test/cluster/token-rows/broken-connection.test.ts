import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectMongo, type MongoConnection } from '#src/adapters/mongodb/connection.js';
import { mongoRowWriter } from '#src/adapters/mongodb/token-rows/row-writer.js';
import { tokenRowsCollection } from '#src/adapters/mongodb/token-rows/token-rows-indexes.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { type MongoDatabase, mongoDatabase } from '../own-database.js';
import { aRow, rowWrite } from './a-row.js';

let database: MongoDatabase;
let proxy: Server;
let connection: MongoConnection;

beforeAll(async () => {
  database = await mongoDatabase();
  const { primary } = await database.connection.db.command({ hello: 1 });
  const [host = '', port = ''] = String(primary).split(':');
  proxy = cutting(host, Number(port));
  await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening));
  const { port: own } = proxy.address() as AddressInfo;
  connection = await connectMongo(
    `mongodb://127.0.0.1:${own}/?directConnection=true`,
    database.connection.db.databaseName,
  );
});

afterAll(async () => {
  await connection.close();
  proxy.close();
  await database.drop();
});

/** Starts a proxy that forwards all data, but breaks the connection if a request names the row collection. */
function cutting(host: string, port: number): Server {
  return createServer((client) => {
    const server = connect(port, host);
    const end = () => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) socket.on('error', end).on('close', end);
    server.pipe(client);
    client.on('data', (bytes) => {
      if (bytes.includes(tokenRowsCollection(1))) end();
      else server.write(bytes);
    });
  });
}

test('a failure while rows are being sent is reported as an unavailable store', async () => {
  const writer = mongoRowWriter(connection, 1);
  const write = rowWrite(aRow());
  for (const send of [() => writer.writeMany([write]), () => writer.write(write.view, write.index, -1, 0)]) {
    const error = await send().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StoreUnavailable);
    expect(error).toMatchObject({ store: 'mongodb', reason: 'unreachable' });
  }
});
