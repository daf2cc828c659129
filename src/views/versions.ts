/**
 * The projections, each with its code version. Raise the version with every change that makes the same events produce
 * different rows. On startup, the service rebuilds projections that have an older version.
 */
export const projectionVersions = { tokens: 1, directory: 1, shredder: 1 } as const;

export type StoredProjection = keyof typeof projectionVersions;

export type ProjectionVersions = Readonly<Record<StoredProjection, number>>;

/** Returns the projections that a newer program wrote, and the ones to rebuild because an older program wrote them. */
export function comparedVersions(stored: ProjectionVersions) {
  const names = ['tokens', 'directory', 'shredder'] as const;
  return {
    newer: names.find((name) => stored[name] > projectionVersions[name]),
    older: names.filter((name) => stored[name] < projectionVersions[name]),
  };
}
