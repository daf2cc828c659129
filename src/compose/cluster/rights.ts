import { excessRightsInEventStoreDb, prepareEventStoreDb } from '../../adapters/eventstoredb/rights.js';
import { compareRightsInMongo, prepareMongo } from '../../adapters/mongodb/rights.js';
import { StoreProblem } from '../../ports/store-problem.js';
import type { Config } from '../config/config.js';
import { readUrlFile, storeUrls } from '../config/store-urls.js';

/**
 * The files with the addresses that an administrator uses to connect to each store. Each file is read once, and its
 * content is never stored.
 */
export type AdminFiles = { readonly eventstore: string | null; readonly mongodb: string | null };

/**
 * Creates or checks the vault's users and permissions in each store for which an administrator file is set. Returns one
 * line per step. Throws StoreProblem or StoreUnavailable.
 */
export async function prepareCluster(config: Config, files: AdminFiles): Promise<readonly string[]> {
  const urls = storeUrls(config);
  const lines: string[] = [];
  if (files.eventstore !== null) {
    lines.push(...(await prepareEventStoreDb(textOf(files.eventstore), urls.eventstore)));
  }
  if (files.mongodb !== null) {
    const database = config.settings['mongodb.database'];
    lines.push(...(await prepareMongo(textOf(files.mongodb), { rows: urls.mongodb, keys: urls.keys }, database)));
  }
  return lines;
}

/**
 * Returns the permissions that the vault's users have but do not need, for each store, and the permissions that they
 * lack in MongoDB.
 */
export async function compareRights(config: Config): Promise<{
  readonly excess: { readonly eventstore: readonly string[]; readonly mongodb: readonly string[] };
  readonly lacking: readonly string[];
}> {
  const { eventstore, mongodb, keys } = storeUrls(config);
  const inEventStoreDb = await excessRightsInEventStoreDb(eventstore);
  const { excess, lacking } = await compareRightsInMongo({ rows: mongodb, keys }, config.settings['mongodb.database']);
  return { excess: { eventstore: inEventStoreDb, mongodb: excess }, lacking };
}

function textOf(file: string): string {
  try {
    return readUrlFile(file);
  } catch (error) {
    throw new StoreProblem((error as Error).message);
  }
}
