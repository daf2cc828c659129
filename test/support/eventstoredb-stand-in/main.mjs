// A stand-in for EventStoreDB, for tests only: node main.mjs DIRECTORY [PORT [forgetful]]
// It speaks the parts of the protocol that the adapter uses, as the real server was measured to answer. Its events
// survive kill -9; it is no database and is never offered to users. A forgetful one refuses a repeat of an append, which
// the real server answers as the first time: so a test sees what the adapter does on its own.
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { createEventStore } from './event-store.mjs';
import { addServices } from './grpc-services.mjs';
import { openJournal } from './journal.mjs';

const [directory, port = '0', fault] = process.argv.slice(2);
if (directory === undefined) throw new Error('usage: node main.mjs DIRECTORY [PORT [forgetful]]');

const journal = await openJournal(directory);
const store = await createEventStore(journal, { knowsRepeats: fault !== 'forgetful' });
const server = new Server({
  // As the real server: at most so many calls on one connection, and no message above 16 MiB.
  'grpc.max_concurrent_streams': 100,
  'grpc.max_receive_message_length': 16 * 1024 * 1024,
  'grpc.max_send_message_length': -1,
});
addServices(server, store);
server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, bound) => {
  if (error) {
    console.error(error.message);
    process.exit(1);
  }
  console.log(`EventStoreDB STAND-IN, for tests only: esdb://127.0.0.1:${bound}?tls=false`);
});
process.once('SIGTERM', () => process.exit(0));
