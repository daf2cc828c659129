import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { run, tempDir } from '../support/process.js';
import { ownServers } from './faults/own-servers.js';

/**
 * Starts a MongoDB server that requires passwords. Returns the addresses for an administrator and for the vault's two
 * users.
 */
export async function serverWithUsers() {
  const { mongo, mongoHosts, mongoUrl, redisUrl } = await ownServers();
  const dir = tempDir();
  const client = await MongoClient.connect(mongoUrl);
  await client.db('admin').command({ createUser: 'admin', pwd: 'secret', roles: ['root'] });
  await client.close();
  await mongo[0]?.kill();
  const keyFile = join(dir, 'key');
  writeFileSync(keyFile, randomBytes(96).toString('base64'), { mode: 0o600 });
  mongo[0]?.start('--auth', '--keyFile', keyFile);
  const addressOf = (user: string) => `mongodb://${user}:secret@${mongoHosts.join()}/?replicaSet=rs0&authSource=admin`;
  const [admin = '', rows = '', keys = ''] = ['admin', 'rows', 'keys'].map(addressOf);
  const adminFile = join(dir, 'admin');
  writeFileSync(adminFile, admin, { mode: 0o600 });
  const prepare = (database: string, env: Readonly<Record<string, string>> = {}) =>
    run(['cluster', 'prepare', '--mongodb-admin-url-file', adminFile], {
      env: {
        STRONGROOM_PROFILE: 'cluster',
        STRONGROOM_INSECURE_STORES: 'true',
        STRONGROOM_MONGODB_DATABASE: database,
        STRONGROOM_MONGODB_URL: rows,
        STRONGROOM_MONGODB_KEYS_URL: keys,
        STRONGROOM_EVENTSTORE_URL: 'esdb://127.0.0.1:9?tls=false',
        STRONGROOM_REDIS_URL: redisUrl,
        ...env,
      },
    });
  return { mongodb: admin, rows, keys, adminFile, redisUrl, prepare };
}
