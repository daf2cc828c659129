import { readFileSync } from 'node:fs';
import type { Config } from '../config.js';

export type StoreUrls = {
  readonly eventstore: string;
  readonly mongodb: string;
  readonly keys: string;
  readonly redis: string;
};

type UrlPath = 'eventstore.url' | 'mongodb.url' | 'mongodb.keys_url' | 'redis.url';

export type StoreUrlsResult =
  | { readonly ok: true; readonly urls: StoreUrls }
  | { readonly ok: false; readonly problems: readonly string[] };

/** The addresses of the stores of the cluster profile, from the settings or the files that they name. */
export function storeUrls({ settings }: Config): StoreUrlsResult {
  const problems: string[] = [];
  const read = (path: UrlPath): string | null => {
    const file = settings[`${path}_file`];
    if (file === null) return settings[path];
    try {
      return readFileSync(file, 'utf8').trim();
    } catch {
      problems.push(`${path}_file: ${file} cannot be read. Check the path and its permissions.`);
      return null;
    }
  };
  const mongodb = read('mongodb.url');
  const given = { eventstore: read('eventstore.url'), mongodb, redis: read('redis.url') };
  const keys = read('mongodb.keys_url') ?? mongodb;
  if (problems.length === 0 && !settings.insecure_stores) problems.push(...unsafe({ ...given, keys }));
  const { eventstore, redis } = given;
  if (problems.length > 0 || eventstore === null || mongodb === null || redis === null || keys === null) {
    return { ok: false, problems };
  }
  return { ok: true, urls: { eventstore, mongodb, redis, keys } };
}

/** Sealed data and wrapped keys cross these connections: others on the network must not read, and not write, there. */
function unsafe(urls: Readonly<Record<keyof StoreUrls, string | null>>): readonly string[] {
  const problems: string[] = [];
  const names = { eventstore: 'eventstore.url', mongodb: 'mongodb.url', keys: 'mongodb.keys_url', redis: 'redis.url' };
  for (const [store, name] of Object.entries(names) as [keyof StoreUrls, string][]) {
    const url = urls[store] ?? '';
    const lacks = [
      ...(hasTls(store, url) ? [] : ['TLS']),
      ...(/^[a-z+]+:\/\/[^/?@]*:[^/?@]+@/.test(url) || /authMechanism=MONGODB-X509/.test(url) ? [] : ['a password']),
    ];
    if (lacks.length > 0) {
      problems.push(
        `${name}: lacks ${lacks.join(' and ')}. Add it, or set insecure_stores for trying out on one machine.`,
      );
    }
  }
  return [...new Set(problems)];
}

function hasTls(store: keyof StoreUrls, url: string): boolean {
  if (store === 'redis') return url.startsWith('rediss://');
  if (store === 'eventstore') return !/[?&]tls=false(&|$)/i.test(url);
  return url.startsWith('mongodb+srv://') || /[?&](tls|ssl)=true(&|$)/i.test(url);
}
