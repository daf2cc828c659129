// The limit for every read: a Fastify server that responds to every request with the same text, which is as long as the
// vault's response.
//   node bench/limits/fixed-answer.mjs BYTES
import { fastify } from 'fastify';
import { listen } from './listen.mjs';

const empty = JSON.stringify({ filling: '' });
const answer = JSON.stringify({ filling: 'x'.repeat(Math.max(0, Number(process.argv[2]) - empty.length)) });
const app = fastify();
for (const [method, url] of [
  ['GET', '/tokens/:id'],
  ['GET', '/tokens'],
  ['POST', '/tokens/search'],
]) {
  app.route({
    method,
    url,
    handler: async (_request, reply) => reply.header('content-type', 'application/json; charset=utf-8').send(answer),
  });
}
await listen(app);
