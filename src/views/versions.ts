/**
 * The code version of each projection. Raise a projection's version with every change that makes the same events
 * produce different rows. On startup, the service rebuilds projections that have an older version.
 */
export const projectionVersions = { tokens: 1, directory: 1, shredder: 1 } as const;

export type StoredProjection = keyof typeof projectionVersions;

export type ProjectionVersions = Readonly<Record<StoredProjection, number>>;
