/**
 * The code version of each projection. Raise a projection's version with every change that makes the same events
 * produce different rows. On startup, the service rebuilds projections that have an older version.
 */
export const projectionVersions = { tokens: 1, directory: 1, shredder: 1 } as const;

export type StoredProjection = keyof typeof projectionVersions;

export type ProjectionVersions = Readonly<Record<StoredProjection, number>>;

/**
 * Compares the stored versions with the versions of this program. `newer` is the first projection that a newer version
 * of Strongroom wrote, or undefined if no newer version wrote one. `older` contains all projections that an older
 * version wrote. These projections must be rebuilt.
 */
export function comparedVersions(stored: ProjectionVersions) {
  const names = ['tokens', 'directory', 'shredder'] as const;
  return {
    newer: names.find((name) => stored[name] > projectionVersions[name]),
    older: names.filter((name) => stored[name] < projectionVersions[name]),
  };
}
