import { replaceDirectory } from '../../adapters/mongodb/directory/replace-directory.js';
import { countedGapMax, type ServiceState } from '../../ports/service-state.js';
import { foldDirectory } from '../../projections/project-directory.js';
import { createProjections } from '../../projections/rebuild/projections.js';
import { createTokenRebuild } from '../../projections/rebuild/token-rebuild.js';
import type { Vault } from '../../vault/vault.js';
import { projectionVersions } from '../../views/versions.js';
import type { ClusterStores } from './cluster-stores.js';
import { rebuildInProcess } from './rebuild-in-process.js';

type Deps = {
  readonly vault: Vault;
  readonly stores: ClusterStores;
  readonly keptMs: number;
  readonly state: () => Promise<ServiceState>;
  readonly onError: (error: unknown) => void;
};

/**
 * After a rebuild, the vault continues to update the old rows for at least this time. It is longer than `trustedMs`,
 * the time after which each process rechecks which generation is in use.
 */
const minimalGraceMs = 3_000;

/** Creates the projections of the cluster profile, including the token rebuild. */
export function clusterProjections({ vault, stores, keptMs, state, onError }: Deps) {
  const { generations, checkpoints, rowsConnection } = stores;
  const openThread = () => rebuildInProcess(vault, stores);
  const { log, keys, clock } = vault;
  const tokens = createTokenRebuild({
    generations,
    keys,
    log,
    clock,
    openThread,
    onError,
    isElsewhere: generations.isElsewhere,
    version: projectionVersions.tokens,
    graceMs: Math.max(keptMs, minimalGraceMs),
  });
  const position = () => checkpoints.position('tokens');
  const projections = createProjections({
    vault,
    generations,
    tokens,
    state,
    // A rebuild command waits until it can remove the old rows. If the command exited earlier, no process would remove
    // them.
    keptSeconds: 0,
    foldDirectory: () => foldDirectory(log, vault.integrity.rows),
    replaceDirectory: (records) => replaceDirectory(rowsConnection, records, log),
    countRows: () => countRows(vault),
    positionOf: (name) => (name === 'shredder' ? keys.checkpoint('shredder') : position()),
    eventsAfter: async (from) => (await log.readClear(from, countedGapMax)).length,
    shredUpTo: position,
  });
  return { tokens, projections };
}

/** Also counts the rows of tenants whose own row is damaged. */
async function countRows({ directory, rows, clock }: Pick<Vault, 'clock' | 'directory' | 'rows'>): Promise<number> {
  let count = 0;
  for (const { record } of await directory.check('tenant')) {
    for (const ofType of (await rows.countByType(record.id, clock.now())).values()) count += ofType;
  }
  return count;
}
