import { StoreProblem } from '../../ports/store-problem.js';
import { ExposedSecret, readSecretFile } from '../files/secret-file.js';
import type { Config } from './config.js';
import { withoutSecrets } from './print-config.js';
import { settings as catalogue } from './settings.js';

export type StoreUrls = {
  readonly eventstore: string;
  readonly mongodb: string;
  readonly keys: string;
  readonly redis: string;
};

type UrlPath = 'eventstore.url' | 'mongodb.url' | 'mongodb.keys_url' | 'redis.url';

/**
 * Returns the addresses of the cluster profile's stores. A setting contains either the address or the path of a file
 * with the address. Throws StoreProblem, with one line for each address that cannot be used.
 */
export function storeUrls({ settings }: Config): StoreUrls {
  const problems: string[] = [];
  const read = (path: UrlPath): string | null => {
    const file = settings[`${path}_file`];
    if (file === null) return settings[path];
    try {
      const text = readUrlFile(file);
      const { error } = catalogue[path].schema.safeParse(text);
      const invalid = error?.issues.map(({ message }) => `${path}_file: the content of ${file} ${message}`) ?? [];
      problems.push(...invalid);
      return text;
    } catch (error) {
      problems.push(`${path}_file: ${(error as Error).message}`);
      return null;
    }
  };
  const mongodb = read('mongodb.url');
  const given = { eventstore: read('eventstore.url'), mongodb, redis: read('redis.url') };
  const keys = read('mongodb.keys_url') ?? mongodb;
  if (problems.length === 0 && !settings.insecure_stores) problems.push(...unsafe({ ...given, keys }));
  const { eventstore, redis } = given;
  if (problems.length > 0 || eventstore === null || mongodb === null || redis === null || keys === null) {
    throw new StoreProblem(problems.join('\n'));
  }
  return { eventstore, mongodb, redis, keys };
}

/** Returns the address of a store from a file. Throws an error with advice if the file cannot be used. */
export function readUrlFile(file: string): string {
  try {
    return readSecretFile(file, 'the address of a store').toString().trim();
  } catch (error) {
    if (error instanceof ExposedSecret) throw error;
    // The setting may contain the address itself by mistake.
    throw new Error(`${withoutSecrets(file)} cannot be read. Check the path and its permissions.`);
  }
}

/**
 * Returns one line for each address that is not secure. Threat: an attacker on the network reads or changes the sealed
 * data and wrapped keys that are sent to and from these addresses.
 */
function unsafe(urls: Readonly<Record<keyof StoreUrls, string | null>>): readonly string[] {
  const problems: string[] = [];
  const names = { eventstore: 'eventstore.url', mongodb: 'mongodb.url', keys: 'mongodb.keys_url', redis: 'redis.url' };
  for (const [store, name] of Object.entries(names) as [keyof StoreUrls, string][]) {
    const url = urls[store] ?? '';
    const lacks = [
      ...(hasTls(store, url) ? [] : ['TLS']),
      ...(trustsAnybody(url) ? ['a check of the certificate, which its options disable'] : []),
      ...(/^[a-z+]+:\/\/[^/?@]*:[^/?@]+@/.test(url) || /authMechanism=MONGODB-X509/.test(url) ? [] : ['a password']),
    ];
    if (lacks.length > 0) {
      problems.push(
        `${name}: lacks ${lacks.join(' and ')}. Add it, or set insecure_stores to try the vault out on one machine.`,
      );
    }
  }
  return [...new Set(problems)];
}

function hasTls(store: keyof StoreUrls, url: string): boolean {
  if (store === 'redis') return url.startsWith('rediss://');
  if (/[?&](tls|ssl)=false(&|$)/i.test(url)) return false;
  return store === 'eventstore' || url.startsWith('mongodb+srv://') || /[?&](tls|ssl)=true(&|$)/i.test(url);
}

/**
 * Returns true if the URL disables certificate checks. Threat: an attacker on the network impersonates the store. TLS
 * does not prevent this without certificate checks.
 */
function trustsAnybody(url: string): boolean {
  const off = /[?&](tlsInsecure|tlsAllowInvalidCertificates|tlsAllowInvalidHostnames)=true(&|$)/i;
  return off.test(url) || /[?&]tlsVerifyCert=false(&|$)/i.test(url);
}
