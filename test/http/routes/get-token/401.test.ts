import { refusesStrangers } from '../unauthenticated.js';

refusesStrangers((service, options) => service.call('GET', '/tokens/unknown', undefined, options));
