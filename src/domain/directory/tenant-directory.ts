import type { DirectoryFact } from './directory-fact.js';
import type { ApplicationDocument, TenantDocument } from './documents.js';

/**
 * A tenant with its applications: what decisions about them rest on. All of it is one stream, so what holds for the
 * tenant as a whole ("somebody can still administrate it", "nobody grants more than he holds") holds under concurrency
 * by the expected revision of an append alone.
 *
 * `applications` need not be all: a decision looks at the one it changes, at the caller's and, when it takes something
 * away, at any other that administrates.
 */
export type TenantDirectory = {
  /** Of the newest event of the stream; -1 when there is none. */
  readonly revision: number;
  /** Null: never made, or deleted. */
  readonly tenant: TenantDocument | null;
  /** Living applications by id. */
  readonly applications: ReadonlyMap<string, ApplicationDocument>;
};

export const noDirectory: TenantDirectory = { revision: -1, tenant: null, applications: new Map() };

/** Folds one event onto the directory of a tenant. Pure. */
export function evolveDirectory(directory: TenantDirectory, fact: DirectoryFact): TenantDirectory {
  const revision = directory.revision + 1;
  switch (fact.type) {
    case 'tenant.created':
    case 'tenant.updated':
      return { ...directory, revision, tenant: fact.document };
    case 'tenant.deleted':
      return { revision, tenant: null, applications: new Map() };
    case 'application.deleted': {
      const others = [...directory.applications].filter(([id]) => id !== fact.applicationId);
      return { ...directory, revision, applications: new Map(others) };
    }
    default: {
      const applications = new Map(directory.applications).set(fact.applicationId, fact.document);
      return { ...directory, revision, applications };
    }
  }
}
