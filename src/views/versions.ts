/**
 * The projections, each with the version of its code. Raise the version with every change after which the same events
 * lead to different rows. At a start, projections of an older version are rebuilt.
 */
export const projectionVersions = { tokens: 2, directory: 1, shredder: 1 } as const;

export type StoredProjection = keyof typeof projectionVersions;

export type ProjectionVersions = Readonly<Record<StoredProjection, number>>;

/** Returns the projections that a newer program wrote, and those that an older program wrote, which must be rebuilt. */
export function comparedVersions(stored: ProjectionVersions) {
  const names = ['tokens', 'directory', 'shredder'] as const;
  return {
    newer: names.find((name) => stored[name] > projectionVersions[name]),
    older: names.filter((name) => stored[name] < projectionVersions[name]),
  };
}
