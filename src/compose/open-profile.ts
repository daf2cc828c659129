import type { LimitSettings } from '../commands/limits/limit-settings.js';
import { StoreProblem } from '../ports/store-problem.js';
import { anchorOf } from './anchor-of.js';
import { storeUrls } from './config/store-urls.js';
import type { Config } from './config.js';
import { openEmbedded } from './embedded.js';
import type { OpenService } from './open-service.js';

class WrongStores extends StoreProblem {
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'WrongStores';
  }
}

export type ProfileOptions = {
  readonly rootKey: Buffer;
  /** Makes what is not there yet: `strongroom init`. */
  readonly prepares: boolean;
  /** A verb of the command line: no limits, no background work, data of either kind. */
  readonly isVerb: boolean;
  readonly limits?: LimitSettings;
  readonly onError: (error: unknown) => void;
  /** The stores can no longer be written: the process must end. */
  readonly onBroken: (error: Error) => void;
};

/** Opens the stores of the profile that the settings name. Throws StoreProblem and StoreUnavailable. */
export async function openProfile(config: Config, options: ProfileOptions): Promise<OpenService> {
  const { settings } = config;
  const { rootKey, prepares, isVerb, onError, onBroken } = options;
  const shared = {
    ...{ rootKey, onError, cvcRetentionMs: settings['cvc.retention_seconds'] * 1_000 },
    anchor: anchorOf(settings['audit.anchor']),
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  };
  if (settings.profile === 'embedded') {
    const made = settings.dev ? 'dev' : 'production';
    return openEmbedded({ ...shared, dataDir: settings.data, onBroken, mode: isVerb && !prepares ? 'any' : made });
  }
  const stores = storeUrls(config);
  if (!stores.ok) throw new WrongStores(stores.problems);
  const role = isVerb ? 'api' : settings.role;
  // The clients of three servers take long to load.
  const { openCluster } = await import('./cluster/open-cluster.js');
  return openCluster({ ...shared, role, prepares, urls: stores.urls, database: settings['mongodb.database'] });
}

/** Where the data of this machine lies; null: the stores are servers, and no process has them to itself. */
export function dataDirectoryOf({ settings }: Config): string | null {
  return settings.profile === 'embedded' ? settings.data : null;
}
