import { refusesStrangers } from '../unauthenticated.js';

refusesStrangers((service, options) =>
  service.call('PATCH', '/tokens/unknown', undefined, {
    ...options,
    raw: '{',
    headers: { 'content-type': 'text/plain', ...options.headers },
  }),
);
