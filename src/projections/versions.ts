/**
 * What is projected from the log, and the version of the code that does it: to be raised with every change after which the
 * same events lead to other rows. What an older version made is then made again at the start.
 */
export const projectionVersions = { tokens: 1, directory: 1, shredder: 1 } as const;

export type StoredProjection = keyof typeof projectionVersions;

export type ProjectionVersions = Readonly<Record<StoredProjection, number>>;
