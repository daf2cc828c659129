import type { ProjectionName } from '../../ports/projections.js';

/** What each projection is, for a person. */
export const descriptions: Readonly<Record<ProjectionName, string>> = {
  tokens: 'the rows of tokens: what is read, listed, searched and due',
  directory: 'tenants, applications and their keys',
  shredder: 'the destruction of keys that events have ended',
  vocabulary: 'words for completion, kept in the memory of the service',
};
