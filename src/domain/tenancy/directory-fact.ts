import type { ApplicationDocument, TenantDocument } from './documents.js';

/**
 * What happened in the directory of a tenant. A document is the whole result of the event; it is sealed. The rest stands
 * in the clear: random ids, names of fields, and the hash of a key that carries 256 random bits. `changed` are the
 * top-level names of the changed fields, in request casing.
 */
export type DirectoryFact =
  | { readonly type: 'tenant.created'; readonly document: TenantDocument }
  | { readonly type: 'tenant.updated'; readonly document: TenantDocument; readonly changed: readonly string[] }
  | { readonly type: 'tenant.deleted' }
  | { readonly type: 'application.created'; readonly applicationId: string; readonly document: ApplicationDocument }
  | {
      readonly type: 'application.updated';
      readonly applicationId: string;
      readonly document: ApplicationDocument;
      readonly changed: readonly string[];
    }
  | { readonly type: 'application.deleted'; readonly applicationId: string }
  | {
      readonly type: 'application.key.issued' | 'application.key.revoked';
      readonly applicationId: string;
      readonly keyId: string;
      readonly keyHash: string;
      readonly document: ApplicationDocument;
    };

export type DirectoryFactType = DirectoryFact['type'];
