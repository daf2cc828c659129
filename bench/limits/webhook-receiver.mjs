// A webhook receiver that accepts every delivery immediately, and reports how many deliveries have arrived.
//   node bench/limits/webhook-receiver.mjs
import { fastify } from 'fastify';
import { listen } from './listen.mjs';

let arrived = 0;
const app = fastify();
app.post('/', async (_request, reply) => {
  arrived += 1;
  return reply.code(204).send();
});
app.get('/arrived', async () => ({ arrived }));
await listen(app);
