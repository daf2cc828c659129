import { Server, ServerCredentials } from '@grpc/grpc-js';
import { createEventStore } from './event-store.mjs';
import { addServices } from './grpc-services.mjs';

/**
 * Serves one log on a port, 0 for any that is free; `journal` is where it is kept.
 * @param {Parameters<typeof createEventStore>[0]} journal
 * @param {number} port
 * @param {{ knowsRepeats: boolean }} options
 */
export async function serve(journal, port, options) {
  const server = new Server({
    // As the real server: at most so many calls on one connection, and no message above 16 MiB.
    'grpc.max_concurrent_streams': 100,
    'grpc.max_receive_message_length': 16 * 1024 * 1024,
    'grpc.max_send_message_length': -1,
  });
  addServices(server, await createEventStore(journal, options));
  /** @type {number} */
  const bound = await new Promise((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, actual) => {
      if (error) reject(error);
      else resolve(actual);
    });
  });
  return { url: `esdb://127.0.0.1:${bound}?tls=false`, close: () => server.forceShutdown() };
}
