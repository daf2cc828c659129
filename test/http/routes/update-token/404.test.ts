import { missesTokens } from '../missing.js';

missesTokens((service, path, options) => service.call('PATCH', path, { metadata: { a: 'b' } }, options));
