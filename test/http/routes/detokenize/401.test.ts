import { refusesStrangers } from '../unauthenticated.js';

refusesStrangers((service, options) =>
  service.call('POST', '/detokenize', undefined, {
    ...options,
    raw: '{',
    headers: { 'content-type': 'text/plain', ...options.headers },
  }),
);
