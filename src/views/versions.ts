/**
 * What is projected from the log, and the version of the code that does it: to be raised with every change after which the
 * same events lead to other rows. What an older version made is then made again at the start.
 */
export const projectionVersions = { tokens: 1, directory: 1, shredder: 1 } as const;

export type StoredProjection = keyof typeof projectionVersions;

export type ProjectionVersions = Readonly<Record<StoredProjection, number>>;

/** Which of them a newer program made, and which an older one did: these are to be made anew. */
export function comparedVersions(stored: ProjectionVersions) {
  const names = ['tokens', 'directory', 'shredder'] as const;
  return {
    newer: names.find((name) => stored[name] > projectionVersions[name]),
    older: names.filter((name) => stored[name] < projectionVersions[name]),
  };
}
