import type { Generations } from '../../ports/generations.js';
import type { ProjectionName, ProjectionStatus, Projections, RebuildStart } from '../../ports/projections.js';
import type { FoldedDirectory } from '../../ports/rebuild-thread.js';
import type { ServiceState } from '../../ports/service-state.js';
import type { Vault } from '../../vault/vault.js';
import type { DirectoryRecord } from '../../views/directory-view.js';
import type { Stored } from '../../views/row-mac.js';
import { projectionVersions } from '../../views/versions.js';
import { countDays, logSource, rebuildShare } from '../daily-counts.js';
import { shredWholeLog } from '../shredder.js';
import { rebuildStatus } from './rebuild-status.js';
import type { TokenRebuild } from './token-rebuild.js';

type ProjectionsDeps = {
  readonly vault: Pick<Vault, 'log' | 'accessLog' | 'keys' | 'clock' | 'dailyCounts' | 'vocabularies' | 'reportDamage'>;
  readonly generations: Generations;
  readonly tokens: TokenRebuild;
  readonly keptSeconds: number;
  readonly foldDirectory: () => Promise<FoldedDirectory>;
  /**
   * Replaces the rows of the directory. If the directory was changed after the position `upTo`, resolves to false, and
   * the caller folds the directory again.
   */
  readonly replaceDirectory: (records: readonly Stored<DirectoryRecord>[], upTo: number) => Promise<boolean>;
  /** Returns the number of token rows in the generation that is in use. */
  readonly countRows: () => Promise<number>;
  /** Returns how far a projection has read the log, as a log position. */
  readonly positionOf: (name: 'tokens' | 'directory' | 'shredder') => Promise<number>;
  /** Returns the number of events after a position. The count stops at a limit. */
  readonly eventsAfter: (position: number) => Promise<number>;
  /** Returns the last log position that the shredder may read. */
  readonly shredUpTo: () => Promise<number>;
  readonly state: () => Promise<Pick<ServiceState, 'projections'>>;
};

/**
 * Implements `Projections`. A `TokenRebuild` rebuilds the token rows. The other projections are small, so each of them
 * is rebuilt in one step.
 */
export function createProjections(deps: ProjectionsDeps): Projections {
  const { vault, generations, tokens, keptSeconds, foldDirectory, replaceDirectory, positionOf, state } = deps;

  async function rebuildDirectory(): Promise<void> {
    for (;;) {
      const { records, upTo } = await foldDirectory();
      if (!(await replaceDirectory(records, upTo))) continue;
      await vault.keys.noteDirectory(records);
      break;
    }
    await generations.saveVersion('directory', projectionVersions.directory);
  }

  async function repeatShredder(): Promise<void> {
    await shredWholeLog(vault.log, vault.keys, await deps.shredUpTo());
    await generations.saveVersion('shredder', projectionVersions.shredder);
  }

  async function countDaysAgain(): Promise<void> {
    await vault.dailyCounts.clear();
    await countDays(vault, { restShare: rebuildShare, stopped: new AbortController().signal });
  }

  async function rebuild(name: ProjectionName, acceptNew: boolean): Promise<RebuildStart> {
    if (name === 'tokens') return tokens.start(acceptNew);
    if (name === 'directory') await rebuildDirectory();
    else if (name === 'shredder') await repeatShredder();
    else if (name === 'days') await countDaysAgain();
    else vault.vocabularies.dropAll();
    return 'done';
  }

  async function status(): Promise<readonly ProjectionStatus[]> {
    const [versions, { read }, rebuilt, head, { projections }] = await Promise.all([
      generations.versions(),
      generations.inUse(),
      generations.rebuild(),
      vault.log.head(),
      state(),
    ]);
    const stored = async (name: 'tokens' | 'directory' | 'shredder'): Promise<ProjectionStatus> => {
      const gap = projections.find((each) => each.name === name)?.gap ?? null;
      const isCurrent = gap === null ? 'unknown' : gap === 0 ? 'current' : 'behind';
      const position = await positionOf(name);
      const common = { name, version: versions[name], position, head, gap };
      if (name !== 'tokens') return { ...common, generation: null, state: isCurrent, rebuild: null, lastRebuild: null };
      const { running, last } = rebuildStatus(rebuilt);
      const rebuild = running === null ? null : { ...running, waitsFor: tokens.waitsFor() };
      const now = running === null ? isCurrent : 'rebuilding';
      return { ...common, generation: read, state: now, rebuild, lastRebuild: last };
    };
    const dayPosition = (await vault.dailyCounts.positions()).get(logSource) ?? 0;
    const dayGap = await deps.eventsAfter(dayPosition);
    const unstored = { version: null, generation: null, rebuild: null, lastRebuild: null };
    const dayState = dayGap === 0 ? 'current' : 'behind';
    return [
      ...(await Promise.all((['tokens', 'directory', 'shredder'] as const).map(stored))),
      { name: 'days', ...unstored, position: dayPosition, head, gap: dayGap, state: dayState },
      { name: 'vocabulary', ...unstored, position: null, head: null, gap: null, state: 'in memory' },
    ];
  }

  return {
    status,
    rebuild,
    keptSeconds,
    async plan(name) {
      if (name === 'vocabulary') return null;
      const head = await vault.log.head();
      return { head, rows: name === 'tokens' ? await deps.countRows() : null };
    },
    cancel: async (name) => (name === 'tokens' ? tokens.cancel() : 'none'),
  };
}
