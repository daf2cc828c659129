import { refusesStrangers } from '../unauthenticated.js';

refusesStrangers((service, options) => service.call('GET', '/logs?page=0', undefined, options));
