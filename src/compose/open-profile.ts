import { commandAnchor } from '../adapters/anchor/command-anchor.js';
import { fileAnchor } from '../adapters/anchor/file-anchor.js';
import { webhookSender } from '../adapters/webhook-target/webhook-sender.js';
import { recordForAllTenants } from '../audit/access-log/record-for-all-tenants.js';
import type { Anchor } from '../ports/anchor.js';
import type { Spans } from '../ports/spans.js';
import { StoreProblem } from '../ports/store-problem.js';
import { StoreUnavailable } from '../ports/store-unavailable.js';
import type { LimitSettings } from '../vault/limit-settings.js';
import { noteLog } from '../vault/log-behind.js';
import type { Vault } from '../vault/vault.js';
import type { Config } from './config/config.js';
import type { Settings } from './config/settings.js';
import { storeUrls } from './config/store-urls.js';
import { readRootKeys, rootKeyPlaceOf } from './root-key/root-key-place.js';
import { createKeyRotationWork } from './vault/key-rotation-work.js';
import type { OpenService, OperatedService } from './vault/open-service.js';

const commandKeptRowsMs = 10_000;

export type ProfileOptions = {
  /**
   * The root key, followed by the next root key if an interrupted rotation may already have rewrapped the keys under
   * it.
   */
  readonly rootKeys: readonly [Buffer, ...Buffer[]];
  /** True for `strongroom init`, which creates missing stores. */
  readonly prepares: boolean;
  /**
   * True for a CLI command. No limits apply to a command, it does no background work, and it opens both dev and
   * production data.
   */
  readonly isCommand: boolean;
  /** If true, opens the stores even if the log is older than its keys. */
  readonly acceptsOlderLog?: boolean;
  readonly limits?: LimitSettings;
  /** Records trace spans. Null if tracing is off. */
  readonly spans?: Spans | null;
  readonly onError: (error: unknown) => void;
  /** Receives each notice for the operator. The service writes notices to its log. */
  readonly onNotice?: (text: string) => void;
  /** Called when the stores can no longer be written. The process must exit after this call. */
  readonly onBroken: (error: Error) => void;
};

/**
 * Opens the stores of the configured profile. Throws StoreProblem or StoreUnavailable if they cannot be opened, or if
 * the search key in use is damaged. A command opens the stores even then, because most commands do not search.
 */
export async function openProfile(config: Config, options: ProfileOptions): Promise<OpenService & OperatedService> {
  const service = await openStores(config, options);
  const { vault } = service;
  if (!options.isCommand) {
    try {
      await expectGenerationKey(vault, options.onNotice);
    } catch (error) {
      await service.close();
      throw error;
    }
  }
  const isAlone = config.settings.profile === 'embedded';
  const onRotated = async () => {
    await noteLog(vault).catch(options.onError);
    await recordForAllTenants(vault, 'rotation').catch(options.onError);
  };
  return {
    ...service,
    rotation: createKeyRotationWork(vault.keys.rotation, rootKeyPlaceOf(config), isAlone, onRotated),
    console: 'unknown',
  };
}

/**
 * Opens the stores of the configured profile for a repair, even if the log is older than its keys, and closes them after
 * use. Any error ends the repair, unless background work reports that a store does not respond. If the stores became
 * unusable, throws the reason, not an error that it has caused.
 */
export async function repairStores<T>(
  config: Config,
  rootKeys: ProfileOptions['rootKeys'],
  use: (service: OpenService & OperatedService) => Promise<T>,
): Promise<T> {
  const problems: Error[] = [];
  const service = await openProfile(config, {
    rootKeys,
    prepares: false,
    isCommand: true,
    acceptsOlderLog: true,
    onError: (error) => {
      // Work in the background tries again. If the repair itself needs the store, its own call fails.
      if (!(error instanceof StoreUnavailable)) throw error;
    },
    onBroken: (error) => {
      // Without the lock, another process can use the directory, so this process must not go on.
      if (error instanceof StoreProblem && error.found?.check === 'lock') throw error;
      problems.push(error);
    },
  });
  const [ended] = await Promise.allSettled([use(service).finally(service.close)]);
  const [problem] = problems;
  if (problem !== undefined) throw problem;
  if (ended.status === 'rejected') throw ended.reason;
  return ended.value;
}

/**
 * Throws if the search key of the generation used for reads is damaged: every search and every change of a token would
 * fail. A damaged key of another generation is only reported.
 */
async function expectGenerationKey(
  { keys, generations }: Pick<Vault, 'generations' | 'keys'>,
  onNotice: ProfileOptions['onNotice'],
): Promise<void> {
  const damaged = await keys.check.searchKeys();
  if (damaged.length === 0) return;
  const { read } = await generations.inUse();
  for (const key of damaged) {
    if (key.kind === 'search' && key.generation === read) {
      throw new StoreProblem(
        `${key.name} in the key store is damaged and does not open. Find out what changed or damaged the key store. ` +
          'Then restore the newest backup whose keys all open: `strongroom backup` exited with status 0 for it.',
      );
    }
    onNotice?.(`${key.name} is damaged; searches do not use it. Find out what changed or damaged the key store`);
  }
}

/**
 * Opens the stores. Loads the profile's adapters on demand, because they take a long time to load. A command that prints
 * help, or that sends its requests to an address, needs none of them.
 */
async function openStores(config: Config, options: ProfileOptions): Promise<OpenService> {
  const { settings } = config;
  const { prepares, isCommand, onError, onBroken } = options;
  const [rootKey, nextRootKey = null] = options.rootKeys;
  const shared = {
    rootKey,
    onError,
    cvcRetentionMs: settings['cvc.retention_seconds'] * 1_000,
    spans: options.spans ?? null,
    anchor: anchorOf(settings['audit.anchor']),
    webhookSender: webhookSender({ allowsPrivate: settings['webhooks.allow_private_targets'] }),
    acceptsOlderLog: options.acceptsOlderLog ?? false,
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    ...(options.onNotice === undefined ? {} : { onNotice: options.onNotice }),
  };
  if (settings.profile === 'embedded') {
    const made = settings.dev ? 'dev' : 'production';
    const mode = isCommand && !prepares ? 'any' : made;
    // While a command has the data open, no other process reads it, so the old rows can be removed immediately.
    const kept = isCommand ? { keptMs: 0 } : {};
    const place = { dataDir: settings.data, reserveBytes: settings['disk.reserve_bytes'] };
    const { openEmbedded } = await import('./embedded/embedded.js');
    return openEmbedded({ ...shared, ...place, ...kept, nextRootKey, onBroken, mode });
  }
  const role = isCommand ? 'api' : settings.role;
  const place = { urls: storeUrls(config), database: settings['mongodb.database'] };
  // A command retains the old rows for a shorter time than the service, because the operator is waiting. If a search
  // still uses the old rows when they are removed, the vault plans that search again.
  const kept = isCommand ? { keptMs: commandKeptRowsMs } : {};
  const { openCluster } = await import('./cluster/open-cluster.js');
  return openCluster({ ...shared, ...place, ...kept, role, prepares, rereadRootKeys: () => rereadRootKeys(config) });
}

/**
 * Returns the anchor configured by the setting `audit.anchor`. The setting is either the path of a file, or a program
 * with its arguments. Returns null if the setting is null.
 */
function anchorOf(setting: Settings['audit.anchor']): Anchor | null {
  if (setting === null) return null;
  return typeof setting === 'string' ? fileAnchor(setting) : commandAnchor(setting);
}

/**
 * Reads the root keys again. Another process may have wrapped the vault's keys under a new root key since this process
 * read them.
 */
async function rereadRootKeys(config: Config): Promise<readonly Buffer[]> {
  const read = await readRootKeys(rootKeyPlaceOf(config));
  return read.ok ? read.keys : [];
}

/**
 * Returns the data directory. Only one process at a time can use it. Returns null in the cluster profile, because many
 * processes share the stores of that profile.
 */
export function dataDirectoryOf({ settings }: Config): string | null {
  return settings.profile === 'embedded' ? settings.data : null;
}
