import type { Generations } from '../../ports/generations.js';
import type { Projections } from '../../ports/projections.js';
import { StoreProblem } from '../../ports/store-problem.js';
import type { TokenRebuild } from '../../projections/rebuild/token-rebuild.js';
import { projectionVersions, type StoredProjection } from '../../views/versions.js';

type Deps = { readonly tokens: TokenRebuild; readonly projections: Projections };

/**
 * Returns the projections that must be rebuilt because an older version of Strongroom built them. Throws StoreProblem if
 * a newer version of Strongroom built one of the projections in `store`.
 */
export async function outdatedProjections(
  generations: Pick<Generations, 'versions'>,
  store: 'vault.db' | 'MongoDB',
): Promise<readonly StoredProjection[]> {
  const stored = await generations.versions();
  const names = ['tokens', 'directory', 'shredder'] as const;
  const newer = names.find((name) => stored[name] > projectionVersions[name]);
  if (newer !== undefined) {
    throw new StoreProblem({
      check: 'versions',
      says: `the projection ${newer} in ${store} was built by a newer version of Strongroom`,
      do: 'Start that version',
    });
  }
  return names.filter((name) => stored[name] < projectionVersions[name]);
}

/** Rebuilds projections that an older version built, and continues an interrupted rebuild. Called at startup. */
export async function rebuildOutdated(
  { tokens, projections }: Deps,
  outdated: readonly StoredProjection[],
  onNotice: (text: string) => void,
): Promise<void> {
  for (const name of ['shredder', 'directory'] as const) {
    if (!outdated.includes(name)) continue;
    onNotice(`the projection ${name} was built by an older version and is being rebuilt`);
    await projections.rebuild(name, true);
  }
  if (!outdated.includes('tokens')) return tokens.resume();
  onNotice('the token rows were built by an older version; they stay in use while new ones are built');
  await tokens.start(true);
}
