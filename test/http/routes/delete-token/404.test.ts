import { missesTokens } from '../missing.js';

missesTokens((service, path, options) => service.call('DELETE', path, undefined, options));
