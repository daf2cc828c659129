import type { Projections } from '../../ports/projections.js';
import type { TokenRebuild } from '../../projections/rebuild/token-rebuild.js';
import type { StoredProjection } from '../../views/versions.js';

type Deps = { readonly tokens: TokenRebuild; readonly projections: Projections };

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
