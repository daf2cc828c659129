import type { ProjectionName } from '../../ports/projections.js';

/** Describes what each projection contains. */
export const descriptions: Readonly<Record<ProjectionName, string>> = {
  tokens: 'the token rows, which are read, listed and searched, and their deadlines',
  directory: 'tenants, applications and their keys',
  shredder: 'how far the log has been checked for keys that must be destroyed',
  days: 'the tokens and accesses of each tenant, counted by day for charts',
  vocabulary: 'the words for search suggestions, kept in the memory of the service',
};
