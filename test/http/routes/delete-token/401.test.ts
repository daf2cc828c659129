import { refusesStrangers } from '../unauthenticated.js';

refusesStrangers((service, options) => service.call('DELETE', '/tokens/unknown', undefined, options));
