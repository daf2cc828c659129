import { isLastingAdministrator } from '../../domain/tenancy/administrators.js';
import type { ApplicationDocument } from '../../domain/tenancy/documents.js';
import { noDirectory, type TenantDirectory } from '../../domain/tenancy/tenant-directory.js';
import { applicationDocument, applicationRecord, openTenant } from '../../vault/open-directory.js';
import type { TenantKeysDeps } from '../../vault/tenant-keys.js';
import type { Vault } from '../../vault/vault.js';
import type { DirectoryRecord } from '../../views/directory-view.js';
import { type DirectoryView, noDirectoryRows } from '../../views/directory-view.js';

type LoadDirectoryDeps = TenantKeysDeps & Pick<Vault, 'turns'>;

/**
 * How many applications the search for an administrator reads at first, and then at a time. Usually, one of the newest
 * applications is an administrator. Each page reads all index entries again, so the later pages are large.
 */
const pageSizes = { first: 20, later: 1_000 };

export type LoadedDirectory = { readonly directory: TenantDirectory; readonly view: DirectoryView };

/** Which applications to load for a decision. */
export type Concerned = {
  readonly applicationIds: readonly string[];
  /**
   * The id of an application, or null. If it is not null, one administrator other than this application is loaded too.
   */
  readonly administratorBeside: string | null;
};

/**
 * Loads the part of a tenant's directory that a decision needs: the tenant and at most three applications, regardless
 * of how many applications the tenant has. Reads the tenant's row first. If anything changes after that read, the
 * append at the revision of that row fails.
 */
export async function loadDirectory(
  vault: LoadDirectoryDeps,
  tenantId: string,
  concerned: Concerned,
): Promise<LoadedDirectory> {
  const record = await vault.directory.get('tenant', tenantId);
  if (record === null) return { directory: noDirectory, view: noDirectoryRows };
  const tenant = await openTenant(vault, record);
  const records = new Map<string, DirectoryRecord>();
  const applications = new Map<string, ApplicationDocument>();
  const add = (found: DirectoryRecord, document: ApplicationDocument): void => {
    records.set(found.id, found);
    applications.set(found.id, document);
  };
  for (const id of concerned.applicationIds) {
    const found = await applicationRecord(vault, tenantId, id);
    const document = found === null ? null : await applicationDocument(vault, found);
    if (found !== null && document !== null) add(found, document);
  }
  if (concerned.administratorBeside !== null && tenant !== null) {
    const administrator = await findAdministrator(vault, tenantId, concerned.administratorBeside);
    if (administrator !== null) add(administrator.record, administrator.document);
  }
  const directory = { revision: record.revision, tenant, applications };
  return { directory, view: { tenant: record, applications: records } };
}

async function findAdministrator(vault: LoadDirectoryDeps, tenantId: string, besideId: string) {
  const { pause } = vault.turns.begin(tenantId);
  const filter = { ids: null, types: ['management'] };
  let offset = 0;
  for (let limit = pageSizes.first; ; limit = pageSizes.later) {
    const { records, total } = await vault.directory.applications(tenantId, filter, { offset, limit }, pause);
    for (const record of records) {
      await pause();
      const document = record.id === besideId ? null : await applicationDocument(vault, record);
      if (document !== null && isLastingAdministrator(document)) return { record, document };
    }
    offset += limit;
    // A page can lack applications that were deleted while it was read, so a short page may not be the last one.
    if (offset >= total) return null;
  }
}
