import { readFileSync } from 'node:fs';
import type { Server, Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { overloaded } from '../problem/problem.js';
import { writeBeforeClosing, writeTogether } from './write-together.js';

const checkMs = 1_000;
/** If a connection has unsent data and the client reads nothing for this long (in ms), the connection is closed. */
const stalledMs = 10_000;
/** The number of file descriptors that are reserved for store files and connections to servers. */
const reservedDescriptors = 192;
/**
 * The number of connections beyond the limit of the API that receive a 503 response. All further connections are closed
 * immediately.
 */
const toldConnections = 64;
const connectionsMost = 10_000;
/** The admin listener has few clients, but each of their requests takes several milliseconds. */
const adminConnectionsMost = 32;
/** How long (in ms) a connection may stay silent after the app has begun to close. */
const silentMs = 1_000;
/** The maximum number of pipelined requests that wait on one connection. */
const pipelinedMax = 64;

/** The state of a connection. */
type Connection = {
  /** The number of bytes that the client has read. */
  taken: number;
  /** When a check last found that `taken` had grown, or that no data was left to send. */
  since: number;
  readonly isBeyondLimit: boolean;
  isBusy: boolean;
  readonly waiting: (() => void)[];
};

/** A listener of the process. */
type Listener = 'api' | 'console' | 'admin';

/**
 * Limits the cost of connections. Each connection runs one request at a time. The next pipelined request starts when
 * the previous response has been sent. If a client does not read its response, its connection is closed.
 *
 * The listeners divide the connections of the process, whose number is lower than the limit on file descriptors. A
 * request on a connection beyond the limit of the API receives a 503 response. The other listeners close such
 * connections.
 */
export function watchConnections(app: FastifyInstance, listener: Listener): void {
  const connections = new Map<Socket, Connection>();
  const server: Server = app.server;
  const connectionsMax = connectionsOf(listener);
  server.maxConnections = connectionsMax + (listener === 'api' ? toldConnections : 0);
  closeSilentOnes(app, connections);
  writeBeforeClosing(app.server);
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    const isBeyondLimit = connections.size >= connectionsMax;
    writeTogether(socket);
    connections.set(socket, { taken: 0, since: performance.now(), isBeyondLimit, isBusy: false, waiting: [] });
    socket.once('close', () => connections.delete(socket));
  });

  const timer = setInterval(() => {
    const now = performance.now();
    for (const [socket, connection] of connections) {
      const taken = socket.bytesWritten - socket.writableLength;
      // A connection that our side has ended stays open only if the client does not close its side, so it counts as
      // waiting.
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
    // A request injected by a test has no connection.
    if (connection === undefined) return done();
    if (connection.isBeyondLimit) {
      reply.header('connection', 'close');
      return done(overloaded());
    }
    const begin = (): void => {
      // A response on a destroyed socket never emits `close`. A request that began now would therefore never release
      // its resources.
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

/**
 * When the app begins to close, closes the connections that have sent nothing, only a part of a request's header, or
 * only a part of a TLS handshake, because Node.js does not count them as idle. Threat: a silent client delays the
 * shutdown.
 */
function closeSilentOnes(app: FastifyInstance, connections: ReadonlyMap<Socket, Connection>): void {
  const handshaking = new Map<string, Socket>();
  if (app.server instanceof TlsServer) {
    // The server emits `connection` with the TCP socket, and after the handshake `secureConnection` with another
    // object.
    app.server.on('connection', (socket: Socket) => {
      const peer = peerOf(socket);
      handshaking.set(peer, socket);
      socket.once('close', () => handshaking.get(peer) === socket && handshaking.delete(peer));
    });
    app.server.on('secureConnection', (socket) => handshaking.delete(peerOf(socket)));
  }
  app.addHook('preClose', async () => {
    setTimeout(() => {
      for (const socket of handshaking.values()) socket.destroy();
      for (const [socket, { isBusy }] of connections) if (!isBusy && socket.writableLength === 0) socket.destroy();
    }, silentMs).unref();
  });
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/**
 * Returns how many connections the limit on file descriptors allows for a listener. Threat: connections to the console
 * or to the admin listener, which need no key, use up the descriptors of the stores and lock out the API.
 */
function connectionsOf(listener: Listener): number {
  const all = Math.min(connectionsMost, descriptorLimit() - reservedDescriptors);
  const shares = { console: Math.floor(all / 8), admin: Math.min(adminConnectionsMost, Math.floor(all / 16)) };
  return listener === 'api' ? all - shares.console - shares.admin : shares[listener];
}

/** Returns the limit on file descriptors. At startup, Node.js raises the soft limit to the hard limit. */
function descriptorLimit(): number {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return Number(limit ?? Number.POSITIVE_INFINITY);
  } catch {
    // Systems other than Linux have no such file. We assume their usual limit.
    return 1_024;
  }
}
