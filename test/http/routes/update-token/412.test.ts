import { heedsPreconditions } from '../precondition.js';

heedsPreconditions((service, path, headers) => service.call('PATCH', path, { metadata: { c: 'd' } }, { headers }));
