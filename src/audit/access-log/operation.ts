/** The operations that an access-log entry can record (docs/contract.md, "Access log"). */
export const accessOperations = [
  'create',
  'read',
  'reveal',
  'update',
  'delete',
  'expiry',
  'purge',
  'start',
  'stop',
  'rotation',
  // The start and end of a console session.
  'sign_in',
  'sign_out',
  // Entries lost while the access log could not be written.
  'loss',
] as const;

export type AccessOperation = (typeof accessOperations)[number];

/** The entities that an access-log entry can name. */
export const accessEntities = ['token', 'application', 'key', 'tenant', 'report', 'log', 'service', 'webhook'] as const;

export type AccessEntity = (typeof accessEntities)[number];
