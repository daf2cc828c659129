import { randomUUID } from 'node:crypto';
import { request as httpsRequest } from 'node:https';
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  AccessDeniedError,
  BACKWARDS,
  END,
  type EventStoreDBClient,
  jsonEvent,
  StreamNotFoundError,
} from '@eventstore/db-client';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import { type Endpoint, type EventStoreDbAddress, parseAddress } from './address.js';
import { connectTo, slotsFor } from './connection.js';
import { EventStoreDbBroken, kindOf, noAnswer, rejectedUser } from './failure.js';
import type { Node } from './node.js';
import { openEventStoreDb } from './open-event-store-db.js';

const limitMs = 5_000;
/** The maximum time to wait for new permissions to take effect, in ms. Permissions usually take effect within 1.5 s. */
const effectMs = 15_000;
const pauseMs = 250;
const admins = '$admins';
const settingsStream = '$settings';
const created = 201;
const conflict = 409;
const unauthorized = 401;
const forbidden = 403;

type User = NonNullable<EventStoreDbAddress['user']>;

/**
 * Creates the vault's user in EventStoreDB and sets its permissions. The user can append to and read every stream, and
 * can read the whole log. Settings that are already correct are not changed. Returns one line of text for each step.
 * Throws EventStoreDbBroken or StoreUnavailable.
 */
export async function prepareEventStoreDb(adminUrl: string, vaultUrl: string): Promise<readonly string[]> {
  const admin = parseAddress(adminUrl);
  const { user: credentials, tls: adminTls } = admin;
  const { user, tls } = parseAddress(vaultUrl);
  if (tls === null || adminTls === null) {
    throw new EventStoreDbBroken(
      'EventStoreDB supports users over TLS only, so eventstore.url and the administrator address must both use TLS.',
    );
  }
  if (user === null || credentials === null) {
    throw new EventStoreDbBroken('eventstore.url and the administrator address must each have a user and a password.');
  }
  if (user.username === credentials.username) {
    throw new EventStoreDbBroken('eventstore.url names the administrator. Give the vault a user of its own.');
  }
  const lines = await asUserOf(admin, async (call) => [
    await call(({ endpoint }) => createUser(endpoint, adminTls.rootCertificate, credentials, user)),
    await call(({ client }) => allowReadingAll(client, credentials, user)),
    await call(({ client }) => restrictStreams(client, credentials, user)),
  ]);
  await waitUntilEffective(vaultUrl);
  return lines.map((line) => `EventStoreDB: ${line}`);
}

/**
 * Returns the permissions that the user in an address has but the vault does not need. Returns an empty list if the
 * server has no users. Each permission is tested by using it. Deletions and changes are attempted on a stream that does
 * not exist, with an expected revision that cannot match. These attempts change nothing, even if the user has the
 * permission.
 */
export async function excessRightsInEventStoreDb(url: string): Promise<readonly string[]> {
  const address = parseAddress(url);
  if (address.tls === null) return [];
  const stream = `strongroom-rights-${randomUUID()}`;
  const expectedRevision = 0n;
  const { user } = address;
  if (user === null) return [];
  const attempts: readonly (readonly [string, (client: EventStoreDBClient) => Promise<unknown>])[] = [
    ['delete and truncate streams', (client) => client.deleteStream(stream, { expectedRevision })],
    ['read metadata', (client) => client.getStreamMetadata(stream)],
    [
      'change metadata and permissions',
      (client) => client.setStreamMetadata(stream, {}, { expectedRevision, credentials: user }),
    ],
    ['read the settings of the server', (client) => newestOf(client, settingsStream)],
  ];
  return asUserOf(address, async (call) => {
    const excess: string[] = [];
    for (const [what, attempt] of attempts) {
      if (await call(({ client }) => isAllowed(() => attempt(client)))) excess.push(what);
    }
    return excess;
  });
}

async function isAllowed(attempt: () => Promise<unknown>): Promise<boolean> {
  try {
    await attempt();
    return true;
  } catch (error) {
    if (error instanceof AccessDeniedError) return false;
    // The server rejected only the expected revision, so the user has the permission.
    if (kindOf(error) === 'lasting') return true;
    throw error;
  }
}

async function asUserOf<T>(
  address: EventStoreDbAddress,
  use: (call: <R>(attempt: (node: Node) => Promise<R>) => Promise<R>) => Promise<T>,
): Promise<T> {
  const connection = connectTo(address);
  const slots = slotsFor(1);
  try {
    return await use((attempt) => connection.call(slots, limitMs, attempt));
  } catch (error) {
    const reason = error instanceof StoreUnavailable ? error.reason : '';
    const name = address.user?.username ?? '';
    if (reason === rejectedUser.wrongPassword) throw unknownUser(name);
    if (reason === rejectedUser.noRight) throw notAdministrator(name);
    throw error;
  } finally {
    connection.close();
  }
}

function unknownUser(name: string): EventStoreDbBroken {
  return new EventStoreDbBroken(
    `EventStoreDB rejected the user ${name} with this password. Check both in the address.`,
  );
}

function notAdministrator(name: string): EventStoreDbBroken {
  return new EventStoreDbBroken(`${name} is not an administrator of EventStoreDB. Use a user in the group $admins.`);
}

async function createUser(endpoint: Endpoint, ca: Buffer | null, admin: User, user: User): Promise<string> {
  const body = { loginName: user.username, fullName: 'Strongroom', groups: [], password: user.password };
  const status = await post(endpoint, ca, admin, '/users/', body);
  if (status === created) return `created the user ${user.username}`;
  if (status === conflict) return `the user ${user.username} exists`;
  if (status === unauthorized) throw unknownUser(admin.username);
  if (status === forbidden) throw notAdministrator(admin.username);
  throw new EventStoreDbBroken(`EventStoreDB did not create the user ${user.username}: HTTP status ${status}.`);
}

async function allowReadingAll(client: EventStoreDBClient, credentials: User, { username }: User): Promise<string> {
  const acl = {
    readRoles: [admins, username],
    writeRoles: [admins],
    deleteRoles: [admins],
    metaReadRoles: [admins],
    metaWriteRoles: [admins],
  };
  const { metadata } = await client.getStreamMetadata('$all');
  if (isDeepStrictEqual(metadata?.acl, acl)) return `${username} may read $all`;
  await client.setStreamMetadata('$all', { ...metadata, acl }, { credentials });
  return `set the permissions of $all: ${username} may read it`;
}

async function restrictStreams(client: EventStoreDBClient, credentials: User, { username }: User): Promise<string> {
  const data = {
    $userStreamAcl: {
      $r: [admins, username],
      $w: [admins, username],
      $d: [admins],
      $mr: [admins],
      $mw: [admins],
    },
    $systemStreamAcl: { $r: [admins], $w: [admins], $d: [admins], $mr: [admins], $mw: [admins] },
  };
  if (isDeepStrictEqual(await newestOf(client, settingsStream), data)) {
    return `${username} may append to and read streams, and nothing else`;
  }
  await client.appendToStream(settingsStream, jsonEvent({ type: 'update-default-acl', data }), { credentials });
  return `set the default permissions of streams: ${username} may append and read, and nothing else`;
}

async function newestOf(client: EventStoreDBClient, stream: string): Promise<unknown> {
  let newest: unknown = null;
  try {
    for await (const { event } of client.readStream(stream, { direction: BACKWARDS, fromRevision: END, maxCount: 1 })) {
      newest = event?.data;
    }
  } catch (error) {
    if (!(error instanceof StreamNotFoundError)) throw error;
  }
  return newest;
}

/**
 * Waits until the new permissions take effect. Opens the log in the same way as the vault does, and retries until this
 * succeeds and the user has no excess permissions.
 */
async function waitUntilEffective(vaultUrl: string): Promise<void> {
  const until = performance.now() + effectMs;
  for (;;) {
    try {
      await (await openEventStoreDb(vaultUrl, limitMs)).close();
      const excess = await excessRightsInEventStoreDb(vaultUrl);
      if (excess.length === 0) return;
      if (performance.now() > until) {
        throw new EventStoreDbBroken(
          `the user of eventstore.url could still ${excess.join(', ')}. Remove it from the groups $admins and ` +
            '$ops, and run this again.',
        );
      }
    } catch (error) {
      if (performance.now() > until) throw error;
      if (!(error instanceof EventStoreDbBroken || error instanceof StoreUnavailable)) throw error;
    }
    await wait(pauseMs);
  }
}

/**
 * Sends a POST request to the HTTP API, because a user can be created only through this API. Resolves to the response
 * status.
 */
function post(endpoint: Endpoint, ca: Buffer | null, { username, password }: User, path: string, body: object) {
  return new Promise<number>((resolve, reject) => {
    const request = httpsRequest(
      {
        host: endpoint.address,
        port: endpoint.port,
        path,
        method: 'POST',
        timeout: limitMs,
        ...(ca === null ? {} : { ca }),
        auth: `${username}:${password}`,
        headers: { 'content-type': 'application/json' },
      },
      (response) => {
        response.resume();
        response.once('end', () => resolve(response.statusCode ?? 0));
      },
    );
    request.once('timeout', () => request.destroy(noAnswer()));
    request.once('error', reject);
    request.end(JSON.stringify(body));
  });
}
