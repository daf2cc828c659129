/** What an entry of the access log can say was done (docs/contract.md, "Access log"). */
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
  // Of a session at the console.
  'sign_in',
  'sign_out',
  // The operation of entries that were lost while the log could not be written.
  'loss',
] as const;

export type AccessOperation = (typeof accessOperations)[number];

/** To what. */
export const accessEntities = ['token', 'application', 'key', 'tenant', 'report', 'log', 'service', 'webhook'] as const;

export type AccessEntity = (typeof accessEntities)[number];
