import type { ApplicationType } from '../domain/access/application-type.js';
import type { RecordedEvent } from '../events/event.js';
import { readDirectoryEvent } from '../events/tenancy/catalogue.js';

/** A tenant or an application as its events left it. */
export type DirectoryRecord = {
  readonly kind: 'tenant' | 'application';
  readonly id: string;
  readonly tenantId: string;
  /** Null for a tenant. */
  readonly applicationType: ApplicationType | null;
  /** Of a tenant: of the newest event of its stream, whatever that changed. Of an application: of its own newest event. */
  readonly revision: number;
  /** Revision of the event that made it: the order of applications. */
  readonly createdRevision: number;
  /** Revision of the event that holds `content`; part of what the box is bound to. */
  readonly contentRevision: number;
  readonly content: Uint8Array | null;
  /** The living API keys; each by its id and the hex SHA-256 that it is found by. */
  readonly keys: readonly { readonly id: string; readonly hash: string }[];
  /** Milliseconds since the epoch, or null while it lives. */
  readonly removedAt: number | null;
};

/**
 * The rows that the events of a tenant's stream lead to: the tenant's own and one an application, each with the box of
 * its newest document, byte for byte. It needs no key, so a rebuild opens nothing.
 */
export type DirectoryView = {
  readonly tenant: DirectoryRecord | null;
  /** Deleted ones stay, without a box and keys. */
  readonly applications: ReadonlyMap<string, DirectoryRecord>;
};

/** The rows before the first event of a tenant's stream. */
export const noDirectoryRows: DirectoryView = { tenant: null, applications: new Map() };

/** Folds one event of the tenant's stream onto its rows. Pure. */
export function applyToDirectory(view: DirectoryView, event: RecordedEvent): DirectoryView {
  const read = readDirectoryEvent(event);
  const { revision, tenantId, time } = event;
  const sealed = { revision, contentRevision: revision, content: event.sealed.content };
  switch (read.type) {
    case 'tenant.created': {
      const tenant = { ...blank('tenant', tenantId, tenantId, null), createdRevision: revision, ...sealed };
      return { ...view, tenant };
    }
    case 'tenant.updated':
      return { ...view, tenant: { ...existing(view.tenant), ...sealed } };
    case 'tenant.deleted':
      return { ...view, tenant: { ...existing(view.tenant), revision, content: null, removedAt: time } };
    case 'tenant.fenced':
      return { ...view, tenant: { ...existing(view.tenant), revision } };
    case 'application.created': {
      const { application_id: id, application_type: type } = read.clear;
      const made = { ...blank('application', id, tenantId, type), createdRevision: revision, ...sealed };
      return withApplication(view, revision, made);
    }
    default: {
      const before = existing(view.applications.get(read.clear.application_id));
      if (read.type === 'application.updated') return withApplication(view, revision, { ...before, ...sealed });
      if (read.type === 'application.deleted') {
        return withApplication(view, revision, { ...before, revision, content: null, keys: [], removedAt: time });
      }
      const { key_id: id, key_hash: hash } = read.clear;
      const others = before.keys.filter((key) => key.id !== id);
      const keys = read.type === 'application.key.issued' ? [...others, { id, hash }] : others;
      return withApplication(view, revision, { ...before, ...sealed, keys });
    }
  }
}

/** Every event moves the tenant's revision, so that decisions on any part of the stream meet there. */
function withApplication(view: DirectoryView, revision: number, application: DirectoryRecord): DirectoryView {
  return {
    tenant: { ...existing(view.tenant), revision },
    applications: new Map(view.applications).set(application.id, application),
  };
}

function existing(record: DirectoryRecord | null | undefined): DirectoryRecord {
  if (record === null || record === undefined) throw new Error('an event changes an object that no event created');
  return record;
}

function blank(
  kind: DirectoryRecord['kind'],
  id: string,
  tenantId: string,
  applicationType: ApplicationType | null,
): DirectoryRecord {
  return {
    ...{ kind, id, tenantId, applicationType, keys: [], removedAt: null },
    ...{ revision: -1, createdRevision: -1, contentRevision: -1, content: null },
  };
}
