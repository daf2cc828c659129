import type { DirectoryFact } from './directory-fact.js';
import type { ApplicationDocument, TenantDocument } from './documents.js';

/**
 * A tenant and its applications, as input to decisions about them. All of a tenant's events are in one stream. A check
 * of the expected revision on each append is therefore enough to enforce rules that involve several applications, even
 * if commands run concurrently. Two examples of such rules: an administrator must remain, and a caller may grant only
 * permissions that it has.
 *
 * `applications` may be incomplete. A decision needs the application that is being changed and the caller's
 * application. If the command removes rights, the decision also needs another administrator, provided that the tenant
 * has one.
 */
export type TenantDirectory = {
  /** The revision of the newest event in the stream, or -1 if the stream is empty. */
  readonly revision: number;
  /** Null if the tenant was never created or was deleted. */
  readonly tenant: TenantDocument | null;
  /** The applications that have not been deleted, keyed by id. */
  readonly applications: ReadonlyMap<string, ApplicationDocument>;
};

export const noDirectory: TenantDirectory = { revision: -1, tenant: null, applications: new Map() };

/** Returns a tenant's directory with one more event applied. This function is pure. */
export function evolveDirectory(directory: TenantDirectory, fact: DirectoryFact): TenantDirectory {
  const revision = directory.revision + 1;
  switch (fact.type) {
    case 'tenant.created':
    case 'tenant.updated':
    case 'webhook.created':
    case 'webhook.updated':
    case 'webhook.deleted':
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
