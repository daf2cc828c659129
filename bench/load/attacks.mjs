// Acts as a hostile tenant in a separate process. The parent process sends a message with the job, { attacks, origin,
// keys, ids }. When the attacks begin, this process replies with 'attacking'. The attacks continue until the parent
// process sends 'stop'. The final reply is the number of requests that got a response.
import { connect } from 'node:net';
import { Agent, request } from 'undici';

const connections = 64;
const mib = 1024 * 1024;
const json = { 'content-type': 'application/json' };

/** A 4 MiB body with as many values as possible. */
const largeBody = `[${'[],'.repeat(Math.floor((4 * mib - 8) / 3))}[]]`;

/**
 * A function for each attack. Each call sends one request. Every connection calls the function in a loop, and the calls
 * rotate through the applications' keys.
 */
const rounds = {
  'hostile masks': (ask, _ids, key) => ask('GET', '/tokens?size=100&type=token', key),
  'bodies of 4 MiB': (ask, _ids, key) => ask('POST', '/detokenize', key, largeBody),
  'detokenize of 100 tokens': (ask, ids, key) =>
    ask('POST', '/detokenize', key, JSON.stringify(ids.map((id) => `{{ ${id} | stringify | upcase | size }}`))),
  '64 connections, 50 applications': (ask, ids, key, i) => ask('GET', `/tokens/${ids[i % ids.length]}`, key),
  'unread pages': unread,
};

export const attackNames = Object.keys(rounds);

let goesOn = true;
let answered = 0;

async function attack(name, { origin, keys, ids }) {
  const agent = new Agent({ connections, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
  const ask = async (method, path, key, body) => {
    const headers = { 'service-api-key': key, ...(body === undefined ? {} : json) };
    const response = await request(`${origin}${path}`, { method, headers, body, dispatcher: agent });
    await response.body.dump({ limit: 2 ** 30 });
    answered += 1;
  };
  await Promise.all(
    Array.from({ length: connections }, async (_, n) => {
      for (let i = n; goesOn; i += connections) {
        const key = keys[i % keys.length];
        await (name === 'unread pages' ? unread(origin, key) : rounds[name](ask, ids, key, i)).catch(() => undefined);
      }
    }),
  );
  await agent.destroy();
}

/** Requests a page and never reads the response. Resolves when the connection is closed. */
function unread(origin, key) {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(origin);
    const socket = connect(Number(port), hostname);
    const end = setInterval(() => goesOn || socket.destroy(), 100);
    socket.pause();
    socket.on('error', () => undefined);
    socket.once('close', () => {
      clearInterval(end);
      resolve();
    });
    socket.write(`GET /tokens?size=100 HTTP/1.1\r\nHost: vault\r\nSERVICE-API-KEY: ${key}\r\n\r\n`);
    // A paused socket does not notice that the vault has closed the connection, so the socket is closed here after 12
    // s.
    setTimeout(() => socket.destroy(), 12_000).unref();
  });
}

if (process.send !== undefined) {
  process.on('message', async (job) => {
    if (job === 'stop') {
      goesOn = false;
      return;
    }
    const all = job.attacks.map((name) => attack(name, job));
    process.send('attacking');
    await Promise.all(all);
    process.send(answered);
    process.disconnect();
  });
}
