import { missesTokens } from '../missing.js';

missesTokens((service, path, options) => service.call('DELETE', `${path}/cvc`, undefined, options));
