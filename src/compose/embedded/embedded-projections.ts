import type { Generations } from '../../ports/generations.js';
import type { ServiceState } from '../../ports/service-state.js';
import { createProjections } from '../../projections/rebuild/projections.js';
import { createTokenRebuild } from '../../projections/rebuild/token-rebuild.js';
import type { Vault } from '../../vault/vault.js';
import { projectionVersions } from '../../views/versions.js';
import { startRebuildThread } from '../rebuild/start-rebuild-thread.js';
import type { diskReserve } from './disk-reserve.js';
import type { EmbeddedStores } from './embedded-stores.js';

type Deps = {
  readonly vault: Vault;
  readonly stores: EmbeddedStores;
  readonly reserve: ReturnType<typeof diskReserve>;
  readonly dataDir: string;
  readonly keptMs: number;
  readonly state: () => Promise<ServiceState>;
  /** Called when reads switch to the rows of a different generation. */
  readonly onSwap: () => void;
  readonly onError: (error: unknown) => void;
};

/**
 * Creates the projections of the embedded profile, including the token rebuild. The rebuild runs on a separate thread.
 */
export function embeddedProjections({ vault, stores, reserve, dataDir, keptMs, state, onSwap, onError }: Deps) {
  const generations: Generations = {
    ...reserve.guardGenerations(stores.generations),
    async swap(...args) {
      try {
        return await stores.generations.swap(...args);
      } finally {
        onSwap();
      }
    },
  };
  const openThread = async () => {
    const rootKey = stores.rootKey();
    try {
      return startRebuildThread({ dataDir, rootKey });
    } finally {
      rootKey.fill(0);
    }
  };
  const { log, keys, clock } = vault;
  const tokens = createTokenRebuild({
    generations,
    keys,
    log,
    clock,
    openThread,
    onError,
    // Only one process can have the data open, so no other process can be running a rebuild.
    isElsewhere: async () => false,
    graceMs: keptMs,
    version: projectionVersions.tokens,
  });
  const projections = createProjections({
    vault,
    generations,
    tokens,
    state,
    keptSeconds: keptMs / 1_000,
    async foldDirectory() {
      const thread = await openThread();
      try {
        return await thread.directory();
      } finally {
        await thread.close();
      }
    },
    replaceDirectory: stores.replaceDirectory,
    countRows: async () => stores.countRows(),
    // Rows are written in the same transaction as their events, so they are always current.
    positionOf: (name) => (name === 'shredder' ? keys.checkpoint('shredder') : log.head()),
    eventsAfter: async (position) => (await log.head()) - position,
    shredUpTo: async () => Number.POSITIVE_INFINITY,
  });
  return { tokens, projections };
}
