import { heedsPreconditions } from '../precondition.js';

heedsPreconditions((service, path, headers) => service.call('DELETE', path, undefined, { headers }));
