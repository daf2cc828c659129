import { refusesStrangers } from '../unauthenticated.js';

refusesStrangers((service, options) =>
  service.call('POST', '/tokens/delete', undefined, {
    ...options,
    raw: '{',
    headers: { 'content-type': 'text/plain', ...options.headers },
  }),
);
