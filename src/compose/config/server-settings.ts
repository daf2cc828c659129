import { databaseName, flag, optionalPath, storeUrl } from './schemas.js';
import type { Setting } from './setting.js';

const urlFile = (store: string): string =>
  `The file with the address of ${store}, so that its password is in no variable.`;

/** The settings of `settings.ts` that say where the servers of the cluster profile are. */
export const serverSettings = {
  'eventstore.url': {
    schema: storeUrl('esdb', 'esdb+discover'),
    default: null,
    form: 'text',
    secret: false,
    doc: 'Where EventStoreDB is, with user and password: esdb://user:pass@a:2113 or, for a cluster, all nodes with commas between them.',
  },
  'eventstore.url_file': {
    schema: optionalPath,
    default: null,
    form: 'text',
    secret: false,
    doc: urlFile('eventstore'),
  },
  'mongodb.url': {
    schema: storeUrl('mongodb', 'mongodb+srv'),
    default: null,
    form: 'text',
    secret: false,
    doc: 'Where MongoDB is, with user and password: mongodb://u:pass@host/?tls=true.',
  },
  'mongodb.url_file': { schema: optionalPath, default: null, form: 'text', secret: false, doc: urlFile('mongodb') },
  'mongodb.keys_url': {
    schema: storeUrl('mongodb', 'mongodb+srv'),
    default: null,
    form: 'text',
    secret: false,
    doc: 'Where the data keys are, for a user or a server of their own; without it, where mongodb.url says.',
  },
  'mongodb.keys_url_file': {
    schema: optionalPath,
    default: null,
    form: 'text',
    secret: false,
    doc: urlFile('mongodb'),
  },
  'mongodb.database': {
    schema: databaseName,
    default: 'strongroom',
    form: 'text',
    secret: false,
    doc: 'The database of rows and directory in MongoDB; that of the keys has the same name with _keys behind it.',
  },
  'redis.url': {
    schema: storeUrl('redis', 'rediss'),
    default: null,
    form: 'text',
    secret: false,
    doc: 'Where Redis is, with user and password: rediss://user:password@host:6379.',
  },
  'redis.url_file': { schema: optionalPath, default: null, form: 'text', secret: false, doc: urlFile('redis') },
  insecure_stores: {
    schema: flag,
    default: false,
    form: 'boolean',
    secret: false,
    doc: 'Lets the cluster profile use stores without TLS and passwords, for trying out on one machine or in one network.',
  },
} as const satisfies Record<string, Setting>;
