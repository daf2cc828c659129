import { missesTokens } from '../missing.js';

missesTokens((service, path, options) => service.call('GET', path, undefined, options));
