// A receiver of webhooks that accepts every delivery at once.
//   node bench/limits/webhook-receiver.mjs
import { fastify } from 'fastify';
import { listen } from './listen.mjs';

const app = fastify();
app.post('/', async (_request, reply) => reply.code(204).send());
await listen(app);
