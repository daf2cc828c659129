import type { ApplicationType } from '../domain/access/application-type.js';
import type { RecordedEvent } from '../events/event.js';
import { readDirectoryEvent } from '../events/tenancy/catalogue.js';

/** The state of a tenant or an application after all of its events. */
export type DirectoryRecord = {
  readonly kind: 'tenant' | 'application';
  readonly id: string;
  readonly tenantId: string;
  /** The type of the application. Null for a tenant. */
  readonly applicationType: ApplicationType | null;
  /** For a tenant, the newest revision of its stream. For an application, the revision of its newest event. */
  readonly revision: number;
  /** The revision of the event that created the tenant or application. Applications are sorted by this revision. */
  readonly createdRevision: number;
  /** The revision of the event that contains `content`. The ciphertext is bound to this revision. */
  readonly contentRevision: number;
  readonly content: Uint8Array | null;
  /** The active API keys, each with its id and the hex SHA-256 hash used to look it up. */
  readonly keys: readonly { readonly id: string; readonly hash: string }[];
  /** The time of deletion in milliseconds since the epoch. Null if the tenant or application has not been deleted. */
  readonly removedAt: number | null;
};

/**
 * The rows of a tenant's stream: one for the tenant and one per application, each with the unchanged ciphertext of its
 * newest document. Folding needs no key, so a rebuild decrypts nothing.
 */
export type DirectoryView = {
  readonly tenant: DirectoryRecord | null;
  /** Includes deleted applications, without their ciphertexts and keys. */
  readonly applications: ReadonlyMap<string, DirectoryRecord>;
};

/** The rows for a tenant's stream before its first event. */
export const noDirectoryRows: DirectoryView = { tenant: null, applications: new Map() };

/** Returns the rows with one more event of the tenant's stream applied. This function is pure. */
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
    // The tenant's document contains its webhooks.
    case 'webhook.created':
    case 'webhook.updated':
    case 'webhook.deleted':
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

/**
 * Returns the rows of a tenant's stream after these events. The first event must be the first of the stream. Each event
 * gets only the application that it concerns. If each event copied the rows of all applications, a tenant that has ever
 * had ten thousand of them would block the thread for seconds.
 */
export function foldDirectoryRows(events: readonly RecordedEvent[]): DirectoryView {
  const applications = new Map<string, DirectoryRecord>();
  let { tenant } = noDirectoryRows;
  for (const event of events) {
    const id = String(event.clear['application_id']);
    const concerned = applications.get(id);
    const before = { tenant, applications: new Map(concerned === undefined ? [] : [[id, concerned]]) };
    const after = applyToDirectory(before, event);
    tenant = after.tenant;
    for (const [changedId, record] of after.applications) applications.set(changedId, record);
  }
  return { tenant, applications };
}

/**
 * Returns the view after a change to one application. Every event also advances the tenant's revision, so that
 * concurrent decisions on any part of the stream conflict.
 */
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
    kind,
    id,
    tenantId,
    applicationType,
    keys: [],
    removedAt: null,
    revision: -1,
    createdRevision: -1,
    contentRevision: -1,
    content: null,
  };
}
