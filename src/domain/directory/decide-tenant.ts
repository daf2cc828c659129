import type { DirectoryCommand } from './directory-command.js';
import { type DirectoryDecided, decided, refused, refusedFields } from './directory-decision.js';
import type { TenantDocument, TenantSettings } from './documents.js';
import type { TenantDirectory } from './tenant-directory.js';

const defaultSettings: TenantSettings = {
  deduplicate_tokens: 'false',
  keep_superseded_data: 'false',
  show_fingerprints: 'false',
};

type TenantCommand = Exclude<DirectoryCommand, { readonly id: string }>;

/** Decides what becomes of the tenant itself. Contract, section 10. */
export function decideTenant(
  command: TenantCommand,
  stamp: { readonly by: string; readonly at: number },
  { tenant, revision }: TenantDirectory,
): DirectoryDecided {
  if (command.do === 'create_tenant') {
    if (revision !== -1) throw new Error('a tenant is made once');
    const stamps = { created_by: stamp.by, created_at: stamp.at, modified_by: null, modified_at: null };
    return decided({ type: 'tenant.created', document: { name: command.name, settings: defaultSettings, ...stamps } });
  }
  if (tenant === null) return refused('tenant_not_found');
  if (command.do === 'delete_tenant') {
    if (command.name === tenant.name) return decided({ type: 'tenant.deleted' });
    return refusedFields({ name: ['must repeat the name of the tenant'] });
  }
  const settings = { ...tenant.settings, ...command.settings };
  const changed = [
    ...(command.name === tenant.name ? [] : ['name']),
    ...(sameSettings(settings, tenant) ? [] : ['settings']),
  ];
  if (changed.length === 0) return decided();
  const document = { ...tenant, name: command.name, settings, modified_by: stamp.by, modified_at: stamp.at };
  return decided({ type: 'tenant.updated', document, changed });
}

function sameSettings(settings: TenantSettings, { settings: before }: TenantDocument): boolean {
  return (
    settings.deduplicate_tokens === before.deduplicate_tokens &&
    settings.keep_superseded_data === before.keep_superseded_data &&
    settings.show_fingerprints === before.show_fingerprints
  );
}
