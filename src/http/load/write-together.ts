import type { Server } from 'node:http';
import { Socket } from 'node:net';

const { uncork } = Socket.prototype;

/** The sockets with responses that have not been written yet. */
let waiting = new Set<Socket>();

/**
 * Delays what is written to a socket until the event loop next runs its immediates, usually at the end of the turn.
 * The responses that end in the meantime are then written one directly after the other. A client on the same machine,
 * such as a proxy, wakes up once for all of them instead of once for each, which saves the vault the time that the
 * system needs to wake it (ADR 33).
 *
 * Node.js corks the socket of a response before it writes to it, and uncorks it once the response has ended.
 */
export function writeTogether(socket: Socket): void {
  socket.uncork = () => {
    if (waiting.size === 0) setImmediate(writeAll);
    waiting.add(socket);
  };
}

/**
 * Makes the server write all responses before it closes idle connections. For Node.js, a connection is idle once its
 * response has ended, even if the response has not been written. Without this, a response could be lost while the
 * process stops.
 */
export function writeBeforeClosing(server: Server): void {
  const { closeIdleConnections } = server;
  server.closeIdleConnections = () => {
    writeAll();
    closeIdleConnections.call(server);
  };
}

function writeAll(): void {
  const sockets = waiting;
  waiting = new Set();
  for (const socket of sockets) while (socket.writableCorked > 0) uncork.call(socket);
}
