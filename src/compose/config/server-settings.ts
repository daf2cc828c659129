import { databaseName, flag, optionalPath, storeUrl } from './schemas.js';
import type { Setting } from './setting.js';

const urlFile = (setting: string): string =>
  `The file that contains ${setting}, so that its password does not appear in a variable.`;

/** The settings for the server addresses of the cluster profile. `settings.ts` includes these settings. */
export const serverSettings = {
  'eventstore.url': {
    schema: storeUrl('esdb', 'esdb+discover'),
    default: null,
    form: 'text',
    doc:
      'The address of EventStoreDB, with user and password: esdb://user:pass@a:2113 or, for a cluster, all nodes ' +
      'separated by commas. A flag must not contain the password.',
  },
  'eventstore.url_file': {
    schema: optionalPath,
    default: null,
    form: 'text',
    doc: urlFile('eventstore.url'),
  },
  'mongodb.url': {
    schema: storeUrl('mongodb', 'mongodb+srv'),
    default: null,
    form: 'text',
    doc:
      'The address of MongoDB, with user and password: mongodb://u:pass@host/?tls=true. A flag must not contain the ' +
      'password.',
  },
  'mongodb.url_file': { schema: optionalPath, default: null, form: 'text', doc: urlFile('mongodb.url') },
  'mongodb.keys_url': {
    schema: storeUrl('mongodb', 'mongodb+srv'),
    default: null,
    form: 'text',
    doc:
      'The address of the MongoDB with the data keys, if they have a separate user or server. The default is ' +
      'mongodb.url. A flag must not contain the password.',
  },
  'mongodb.keys_url_file': {
    schema: optionalPath,
    default: null,
    form: 'text',
    doc: urlFile('mongodb.keys_url'),
  },
  'mongodb.database': {
    schema: databaseName,
    default: 'strongroom',
    form: 'text',
    doc: 'The MongoDB database for rows and the directory. The database for keys has the same name followed by _keys.',
  },
  'redis.url': {
    schema: storeUrl('redis', 'rediss'),
    default: null,
    form: 'text',
    doc:
      'The address of Redis, with user and password: rediss://user:password@host:6379. A flag must not contain the ' +
      'password.',
  },
  'redis.url_file': { schema: optionalPath, default: null, form: 'text', doc: urlFile('redis.url') },
  insecure_stores: {
    schema: flag,
    default: false,
    form: 'boolean',
    doc: 'Allows stores without TLS or passwords in the cluster profile, for trying it out on one machine or network.',
  },
} as const satisfies Record<string, Setting>;
