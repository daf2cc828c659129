import { recordForAllTenants } from '../audit/access-log/record-for-all-tenants.js';
import type { Spans } from '../ports/spans.js';
import { StoreProblem } from '../ports/store-problem.js';
import type { LimitSettings } from '../vault/limit-settings.js';
import { noteLog } from '../vault/log-behind.js';
import { anchorOf } from './anchor-of.js';
import type { Config } from './config/config.js';
import { storeUrls } from './config/store-urls.js';
import { keptRowsMs, openEmbedded } from './embedded/embedded.js';
import { readRootKeys, rootKeyPlaceOf } from './root-key/root-key-place.js';
import { createKeyRotationWork } from './vault/key-rotation-work.js';
import type { OpenService, OperatedService } from './vault/open-service.js';

class WrongStores extends StoreProblem {
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'WrongStores';
  }
}

const verbKeptRowsMs = 10_000;

export type ProfileOptions = {
  /** The root key, and behind it what a rotation may have put the keys under. */
  readonly rootKeys: readonly [Buffer, ...Buffer[]];
  /** Makes what is not there yet: `strongroom init`. */
  readonly prepares: boolean;
  /** A verb of the command line: no limits, no background work, data of either kind. */
  readonly isVerb: boolean;
  /** Opens also a log that is behind its keys. */
  readonly acceptsOlderLog?: boolean;
  readonly limits?: LimitSettings;
  /** Null: no traces are recorded. */
  readonly spans?: Spans | null;
  readonly onError: (error: unknown) => void;
  /** Something that who runs the service should read in its log. */
  readonly onNotice?: (text: string) => void;
  /** The stores can no longer be written: the process must end. */
  readonly onBroken: (error: Error) => void;
};

/** Opens the stores of the profile that the settings name. Throws StoreProblem and StoreUnavailable. */
export async function openProfile(config: Config, options: ProfileOptions): Promise<OpenService & OperatedService> {
  const service = await openStores(config, options);
  const { vault } = service;
  const isAlone = config.settings.profile === 'embedded';
  const onRotated = async () => {
    await noteLog(vault).catch(options.onError);
    await recordForAllTenants(vault, 'rotation').catch(options.onError);
  };
  return {
    ...service,
    rotation: createKeyRotationWork(vault.keys.rotation, rootKeyPlaceOf(config), isAlone, onRotated),
  };
}

async function openStores(config: Config, options: ProfileOptions): Promise<OpenService> {
  const { settings } = config;
  const { prepares, isVerb, onError, onBroken } = options;
  const [rootKey, nextRootKey = null] = options.rootKeys;
  const shared = {
    ...{ rootKey, onError, cvcRetentionMs: settings['cvc.retention_seconds'] * 1_000 },
    spans: options.spans ?? null,
    anchor: anchorOf(settings['audit.anchor']),
    acceptsOlderLog: options.acceptsOlderLog ?? false,
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    ...(options.onNotice === undefined ? {} : { onNotice: options.onNotice }),
  };
  if (settings.profile === 'embedded') {
    const made = settings.dev ? 'dev' : 'production';
    const mode = isVerb && !prepares ? 'any' : made;
    // Nobody else reads what a verb has to itself.
    const keptMs = isVerb ? 0 : keptRowsMs;
    const reserveBytes = settings['disk.reserve_bytes'];
    return openEmbedded({ ...shared, nextRootKey, reserveBytes, dataDir: settings.data, onBroken, mode, keptMs });
  }
  const stores = storeUrls(config);
  if (!stores.ok) throw new WrongStores(stores.problems);
  const role = isVerb ? 'api' : settings.role;
  // The clients of three servers take long to load.
  const { openCluster } = await import('./cluster/open-cluster.js');
  const place = { urls: stores.urls, database: settings['mongodb.database'] };
  // Somebody waits for a verb; a search that began on the old rows is planned again.
  const keptMs = isVerb ? verbKeptRowsMs : keptRowsMs;
  return openCluster({ ...shared, ...place, role, prepares, keptMs, rereadRootKeys: () => rereadRootKeys(config) });
}

/** Another process may have put the keys under a new root key since. */
async function rereadRootKeys(config: Config): Promise<readonly Buffer[]> {
  const read = await readRootKeys(rootKeyPlaceOf(config));
  return read.ok ? read.keys : [];
}

/** Where the data of this machine lies; null: the stores are servers, and no process has them to itself. */
export function dataDirectoryOf({ settings }: Config): string | null {
  return settings.profile === 'embedded' ? settings.data : null;
}
