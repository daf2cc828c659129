import { readFileSync } from 'node:fs';
import type { Server, Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { Problem } from '../problem/problem.js';

const checkMs = 1_000;
/** A connection with something to send that takes none of it for so long is closed. */
const stalledMs = 10_000;
/** Descriptors for files of the stores, connections to servers, and the admin listener. */
const reservedDescriptors = 192;
/** Connections beyond the limit that are told so; further ones are closed at once. */
const toldConnections = 64;
const connectionsMost = 10_000;
const connectionsLeast = 16;
/** Requests on one connection that wait for the one before. */
const pipelinedMax = 64;
const retryAfterMs = 2_000;

type Connection = {
  /** Bytes that the other side has taken, and when that last grew or there was nothing to send. */
  taken: number;
  since: number;
  readonly isBeyondLimit: boolean;
  isBusy: boolean;
  readonly waiting: (() => void)[];
};

/**
 * Bounds what connections cost. One connection runs one request at a time: of pipelined ones the next begins when the
 * response before has left. One that does not take its response is closed. There are fewer connections than file
 * descriptors, and those beyond get 503.
 */
export function watchConnections(app: FastifyInstance, connectionsMax = connectionsThatFit()): void {
  const connections = new Map<Socket, Connection>();
  const server: Server = app.server;
  server.maxConnections = connectionsMax + toldConnections;
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    const isBeyondLimit = connections.size >= connectionsMax;
    connections.set(socket, { taken: 0, since: performance.now(), isBeyondLimit, isBusy: false, waiting: [] });
    socket.once('close', () => connections.delete(socket));
  });

  const timer = setInterval(() => {
    const now = performance.now();
    for (const [socket, connection] of connections) {
      const taken = socket.bytesWritten - socket.writableLength;
      // After the last response, only the other side keeps the connection open.
      const isWaiting = socket.writableLength > 0 || socket.writableEnded || connection.isBeyondLimit;
      if (!isWaiting || taken !== connection.taken) connection.since = now;
      connection.taken = taken;
      if (now - connection.since >= stalledMs) socket.destroy();
    }
  }, checkMs);
  timer.unref();
  app.addHook('onClose', async () => clearInterval(timer));

  app.addHook('onRequest', ({ raw }, reply, done) => {
    const { socket } = raw;
    const connection = connections.get(socket);
    // A request that a test injects has none.
    if (connection === undefined) return done();
    if (connection.isBeyondLimit) {
      reply.header('connection', 'close');
      return done(new Problem('overloaded', undefined, retryAfterMs));
    }
    const begin = (): void => {
      // Its response never closes, so what it would hold would never be given back.
      if (socket.destroyed) return;
      connection.isBusy = true;
      reply.raw.once('close', () => {
        connection.isBusy = false;
        connection.waiting.shift()?.();
      });
      done();
    };
    if (!connection.isBusy) return begin();
    if (connection.waiting.length === pipelinedMax) socket.destroy();
    else connection.waiting.push(begin);
  });
}

/** How many connections the limit of file descriptors leaves room for. */
function connectionsThatFit(): number {
  return Math.min(connectionsMost, Math.max(connectionsLeast, descriptorLimit() - reservedDescriptors));
}

/** Node.js has raised the limit to the most that this process may have. */
function descriptorLimit(): number {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return Number(limit ?? Number.POSITIVE_INFINITY);
  } catch {
    // No Linux: the usual limit of other systems.
    return 1_024;
  }
}
