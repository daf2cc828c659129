/** What an entry of the access log can say was done (contract, section 10, `GET /logs`). */
export type AccessOperation =
  | 'create'
  | 'read'
  | 'update'
  | 'delete'
  | 'expiry'
  | 'purge'
  | 'reveal'
  | 'start'
  | 'stop';

/** To what. */
export type AccessEntity = 'token' | 'application' | 'key' | 'tenant' | 'log' | 'report' | 'service';
