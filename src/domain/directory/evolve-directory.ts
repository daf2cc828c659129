import type { DirectoryFact } from './directory-fact.js';
import type { TenantDirectory } from './tenant-directory.js';

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
