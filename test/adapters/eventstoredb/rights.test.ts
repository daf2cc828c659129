import { EventStoreDBClient, jsonEvent, NO_STREAM } from '@eventstore/db-client';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openEventStoreDb } from '#src/adapters/eventstoredb/open-event-store-db.js';
import { excessRightsInEventStoreDb, prepareEventStoreDb } from '#src/adapters/eventstoredb/rights.js';
import { anEvent, aStream } from '../../contract/support.js';
import { startSecureStandIn, startStandIn, startStandInCluster } from '../../support/eventstoredb.js';
import { authenticated } from '../../support/integrity.js';

const vaultUser = 'strongroom:its-password';

async function secureServer() {
  const server = await startSecureStandIn();
  onTestFinished(server.remove);
  return server;
}

function clientOf(url: string): EventStoreDBClient {
  const client = EventStoreDBClient.connectionString(url);
  onTestFinished(() => client.dispose());
  return client;
}

async function messageOf(opening: Promise<{ close(): Promise<void> }>): Promise<string> {
  return opening.then(
    async (opened) => {
      await opened.close();
      return 'it opened';
    },
    (error: Error) => `${error.name}: ${error.message}`,
  );
}

describe('prepare', () => {
  test('creates the vault user with the rights that it needs, and changes nothing when it runs again', async () => {
    const server = await secureServer();
    const url = server.urlOf(vaultUser);
    expect(await prepareEventStoreDb(server.url, url)).toEqual([
      'EventStoreDB: created the user strongroom',
      'EventStoreDB: set the permissions of $all: strongroom may read it',
      'EventStoreDB: set the default permissions of streams: strongroom may append and read, and nothing else',
    ]);
    expect(await prepareEventStoreDb(server.url, url)).toEqual([
      'EventStoreDB: the user strongroom exists',
      'EventStoreDB: strongroom may read $all',
      'EventStoreDB: strongroom may append to and read streams, and nothing else',
    ]);
    const { log: stored, close } = await openEventStoreDb(url);
    onTestFinished(close);
    const log = authenticated(stored);
    const stream = aStream();
    const { outcome } = await log.append(stream, -1, [anEvent()]);
    expect(outcome).toBe('appended');
    expect(await log.readStream(stream)).toEqual(await log.readAll(0, 10));
  });

  test('lets the vault user only append and read, and gives other users no rights', async () => {
    const server = await secureServer();
    const stream = aStream();
    await prepareEventStoreDb(server.url, server.urlOf(vaultUser));
    await prepareEventStoreDb(server.url, server.urlOf('other:password'));
    await prepareEventStoreDb(server.url, server.urlOf(vaultUser));
    const client = clientOf(server.urlOf(vaultUser));
    const event = jsonEvent({ type: 'tested', data: {} });
    await client.appendToStream(stream, event, { expectedRevision: NO_STREAM });
    const denied = { type: 'access-denied' };
    await expect(client.deleteStream(stream)).rejects.toMatchObject(denied);
    await expect(client.tombstoneStream(stream)).rejects.toMatchObject(denied);
    await expect(client.setStreamMetadata(stream, { truncateBefore: 1 })).rejects.toMatchObject(denied);
    await expect(client.setStreamMetadata('$all', {})).rejects.toMatchObject(denied);
    await expect(client.getStreamMetadata(stream)).rejects.toMatchObject(denied);
    await expect(client.appendToStream('$settings', event)).rejects.toMatchObject(denied);
    for (const url of [server.urlOf('other:password'), server.urlOf('').replace('//@', '//')]) {
      const other = clientOf(url);
      await expect(other.appendToStream(stream, event)).rejects.toMatchObject(denied);
      const read = async () => {
        for await (const _ of other.readStream(stream));
      };
      await expect(read()).rejects.toMatchObject(denied);
    }
  });

  test('rejects a user that is not an administrator, a wrong password, and the administrator itself as the vault user', async () => {
    const server = await secureServer();
    const url = server.urlOf(vaultUser);
    await expect(prepareEventStoreDb(server.urlOf('admin:wrong'), url)).rejects.toThrow(
      'EventStoreDB rejected the user admin with this password.',
    );
    await expect(prepareEventStoreDb(server.url, server.url)).rejects.toThrow('names the administrator');
    await prepareEventStoreDb(server.url, url);
    await expect(prepareEventStoreDb(url, server.urlOf('another:user'))).rejects.toThrow(
      'strongroom is not an administrator of EventStoreDB.',
    );
    const insecure = await startStandIn();
    onTestFinished(insecure.remove);
    await expect(prepareEventStoreDb(insecure.url, insecure.url)).rejects.toThrow('TLS only');
  });
});

test('reports rights that a user has but does not need', async () => {
  const server = await secureServer();
  const all = [
    'delete and truncate streams',
    'read metadata',
    'change metadata and permissions',
    'read the settings of the server',
  ];
  expect(await excessRightsInEventStoreDb(server.url)).toEqual(all);
  await prepareEventStoreDb(server.url, server.urlOf(vaultUser));
  expect(await excessRightsInEventStoreDb(server.urlOf(vaultUser))).toEqual([]);
  const admin = clientOf(server.url);
  // On a server without permission settings, every user has full access to all streams.
  await admin.appendToStream('$settings', jsonEvent({ type: 'update-default-acl', data: {} }));
  expect(await excessRightsInEventStoreDb(server.urlOf(vaultUser))).toEqual(all.slice(0, 3));
  // Checks that neither `prepare` nor the permission check appended an event.
  const { log, close } = await openEventStoreDb(server.urlOf(vaultUser));
  onTestFinished(close);
  expect(await log.head()).toBe(0);
});

describe('a start reports a problem', () => {
  test('with the EventStoreDB user', async () => {
    const server = await secureServer();
    expect(await messageOf(openEventStoreDb(server.urlOf('').replace('//@', '//')))).toMatch(/names no user/);
    expect(await messageOf(openEventStoreDb(server.urlOf('strongroom:wrong')))).toBe(
      'EventStoreDbBroken: EventStoreDB rejected the user strongroom with this password. Check both in eventstore.url.',
    );
    await prepareEventStoreDb(server.url, server.urlOf(vaultUser));
    await prepareEventStoreDb(server.url, server.urlOf('other:password'));
    expect(await messageOf(openEventStoreDb(server.urlOf(vaultUser)))).toMatch(
      /^EventStoreDbBroken: the user strongroom of eventstore.url may not read \$all.* Run `strongroom cluster prepare`/,
    );
  });

  test('with an address that names separate servers, or only one node of a cluster', async () => {
    const cluster = await startStandInCluster();
    onTestFinished(cluster.remove);
    const alone = await startStandIn();
    onTestFinished(alone.remove);
    const [first = 0, second = 0, third = 0] = cluster.nodes.map(({ port }) => port);
    const all = `esdb://127.0.0.1:${first},127.0.0.1:${second},127.0.0.1:${third}`;
    const open = (address: string) => messageOf(openEventStoreDb(`${address}?tls=false`));
    expect(await open(`esdb://127.0.0.1:${second}`)).toMatch(
      new RegExp(`names one node of a cluster of 3, .* List all of them: ${all}$`),
    );
    expect(await open(`esdb+discover://127.0.0.1:${second}`)).toBe('it opened');
    expect(await open(all)).toBe('it opened');
    expect(await open(all.replace('esdb:', 'esdb+discover:'))).toContain(
      `esdb+discover:// takes one DNS name. List several hosts as ${all}`,
    );
    expect(await open(`esdb://127.0.0.1:${first},127.0.0.1:${alone.port}`)).toContain(
      `they do not form a cluster: 127.0.0.1:${alone.port} is a standalone server`,
    );
    expect(await open('esdb://127.0.0.1:9,127.0.0.1:10')).toMatch(/none of the hosts in eventstore\.url responds/);
    cluster.elect(null);
    const noLeader = /no EventStoreDB node is the leader .* a cluster needs a majority/;
    expect(await open(all)).toMatch(noLeader);
    // While a node is frozen, each search for the leader takes a second, so the time limit interrupts the last one.
    cluster.nodes[0]?.signal('SIGSTOP');
    expect(await open(all)).toMatch(noLeader);
    cluster.nodes[0]?.signal('SIGCONT');
  });

  test('with an option in the address, without quoting the address', async () => {
    for (const option of ['keepAliveInterval=1', 'tls=maybe', 'tlsVerifyCert=false', 'tlsCAFile=/nowhere', 'a%b=%zz']) {
      const message = await messageOf(openEventStoreDb(`esdb://user:SECRET@localhost:1?${option}`));
      expect(message).toMatch(
        /^EventStoreDbBroken: the address of EventStoreDB cannot be used: check eventstore\.url; /,
      );
      expect(message).not.toContain('SECRET');
    }
  });
});
